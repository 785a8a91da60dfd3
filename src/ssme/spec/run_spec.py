"""What a run is, as data: where the scores are, how they are read, what is estimated and how.

    RunSpec <-> dict <-> TOML, YAML or JSON

`ssme.evaluate`, the command line, config files and the last section of a report share it. Writing a
spec and reading it back gives an equal spec, and running that gives the same numbers to the bit.
What no file can hold (a function as a metric, an array of weights) does not keep a spec from being
run, but from being written; the error says what it is.

A config file has these parts, whose keys are the long options of the command line:

    file = "scores.csv"
    [read]      how the file is read (`ssme.data.readers.options.ReadOptions`)
    [run]       method, metrics, level, seed
    [engine]    where the work is done
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ssme.config import WRITTEN_AS, format_config, read_config, write_config
from ssme.data.grouping import LARGEST_NUMBER_OF_GROUPS, Pooling
from ssme.errors import InputError, argument
from ssme.methods.base import Method
from ssme.methods.registry import get_method
from ssme.metrics import Metric
from ssme.options import (
    Anything,
    Declared,
    Enumeration,
    NamedValues,
    Number,
    OneOf,
    Option,
    Text,
    Whole,
    list_declared,
    option,
)
from ssme.options import Nothing as Null
from ssme.spec.files import (
    explain_unknown_key,
    explain_unwritable,
    make_plain,
    read_reading,
    read_value,
    take_section,
    write_metric_entry,
    write_options,
    write_reading,
)
from ssme.spec.settling import (
    ColumnNames,
    OnePath,
    Paths,
    check_reading,
    draw_seed,
    settle_method,
)
from ssme.wording import suggest_nearest

__all__ = ["ENGINES", "SAMPLE_ROWS", "RunSpec"]

ENGINES = ("memory", "stream", "dask")
GROUP_TARGETS = ("population", "rows")
SAMPLE_ROWS = 20_000


@dataclass(frozen=True)
class RunSpec(Declared):
    """All that decides the result of a run, beside the data itself.

    Parameters
    ----------
    source : str, tuple of str or None
        The file with the scores; several of them, patterns or addresses where they are streamed.
        None if the caller holds the scores in memory.
    read : dict
        How the scores are read: options of `ssme.ScoreSet.read`.
    method : str or Method
        Name of the method; a method object of a class of one's own cannot be written to a file.
    options : dict
        Options of the method.
    metrics : tuple or None
        Names of metrics, or ``{"name": "ece", "norm": "l2"}`` with options; `ssme.Metric` objects
        and functions can be run. None stands for the metrics of the SSME paper.
    by : tuple of str or None
        Groupings to report on, beside all rows: ``"sex"``, ``"age:quantiles=4"``,
        ``"age:edges=30/50"`` or intersections such as ``"sex+race"`` (`ssme.data.grouping`). None
        stands for those that ``read`` names, or else for all group columns that the data has.
    min_group_rows, max_groups : int
        Groups of fewer rows, and the smallest of more groups than this, are put together.
    group_target : {"population", "rows"}
        What the intervals of groups are about: all rows that the group's rows stand for, or just
        the rows at hand.
    threshold : float or None
        P(positive) from which a binary classifier says "positive".
    level : float
        Coverage of the intervals.
    n_draws : int or None
        Number of draws, for methods that draw.
    random_state : int or None
        Seed of the random numbers. None stands for a fresh one, which the result records.
    engine : {"memory", "stream", "dask"}
        Where the work is done.
    workers, scheduler, sample_rows, checkpoint
        How the engines ``"stream"`` and ``"dask"`` work.

    Examples
    --------
    >>> from ssme.run import RunSpec
    >>> spec = RunSpec("scores.csv", {"label": "y"}, metrics="accuracy", level=0.9)
    >>> print(spec.to_text(".toml"))
    file = "scores.csv"
    <BLANKLINE>
    [read]
    label = "y"
    <BLANKLINE>
    [run]
    method = "auto"
    metric = ["accuracy"]
    level = 0.9
    seed = 0
    <BLANKLINE>
    >>> RunSpec.from_dict(spec.to_dict()) == spec
    True
    """

    source: str | tuple[str, ...] | None = option(
        None,
        "File with the scores.",
        OneOf(Null("the caller holds the scores"), Paths()),
    )
    read: Mapping[str, Any] = field(default_factory=dict)
    method: str | Method = option(
        "auto",
        "Method of the estimates; `ssme methods` lists them.",
        Anything("the name of a method"),
    )
    options: Mapping[str, Any] = field(
        default_factory=dict,
        metadata={"option": ("Options of the method.", NamedValues(), False)},
    )
    metrics: tuple[Any, ...] | None = option(
        None,
        "Metrics to estimate; `ssme metrics` lists them.",
        OneOf(Null("those of the SSME paper"), Anything("names of metrics")),
    )
    by: tuple[str, ...] | None = option(
        None,
        "Groups to report on, beside all rows: sex, age:quantiles=4, age:edges=30/50, or several "
        "joined by + for their intersections.",
        OneOf(Null("all group columns"), ColumnNames()),
    )
    min_group_rows: int = option(
        1,
        "Number of rows that a group needs to stand by itself; smaller ones are put together.",
        Whole(least=1),
    )
    max_groups: int = option(
        200,
        "Largest number of groups of one grouping; the smaller ones beyond it are put together.",
        Whole(least=1, most=LARGEST_NUMBER_OF_GROUPS),
    )
    group_target: str = option(
        "population",
        'What the intervals of groups are about: the "population" that the rows of a group stand '
        'for, or just the "rows" at hand.',
        Enumeration(*GROUP_TARGETS),
    )
    threshold: float | None = option(
        None,
        'P(positive) from which a binary classifier says "positive".',
        OneOf(Null("0.5"), Number(0.0, 1.0)),
    )
    level: float = option(
        0.95,
        "Coverage of the intervals.",
        Number(0.0, 1.0, open_least=True, open_most=True),
    )
    n_draws: int | None = option(
        None,
        "Number of draws, for methods that draw.",
        OneOf(Null("the method's own number"), Whole(least=1)),
    )
    random_state: int | None = option(
        0,
        "Seed of the random numbers.",
        OneOf(Whole(least=0), Null("a fresh seed")),
    )
    engine: str = option(
        "memory",
        'Where the work is done: in "memory"; as a "stream", which passes once over Parquet '
        'files of any size; or by "dask", which does the same on a cluster.',
        Enumeration(*ENGINES),
    )
    workers: int | None = option(
        None,
        "Number of threads of a stream, or of processes of a local Dask cluster.",
        OneOf(Null("one per core"), Whole(least=1)),
    )
    scheduler: str | None = option(
        None,
        "Address of a running Dask scheduler, such as tcp://host:8786.",
        OneOf(Null("a local cluster"), Text()),
    )
    sample_rows: int = option(
        SAMPLE_ROWS,
        "Number of unlabeled rows that the method is fitted on when rows are streamed.",
        Whole(least=1),
    )
    checkpoint: str | None = option(
        None,
        "File that keeps the sums of a stream, so that the same command goes on after a cut.",
        OneOf(Null("none"), OnePath()),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        metrics = self.metrics
        if metrics is not None:
            single = isinstance(metrics, (str, Mapping, Metric)) or callable(metrics)
            listed = (metrics,) if single else tuple(metrics)
            plain = tuple(make_plain(m) if isinstance(m, Mapping) else m for m in listed)
            object.__setattr__(self, "metrics", plain)
        method, options = settle_method(self.method, self.options)
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "options", options)
        self.make_method()
        object.__setattr__(self, "read", check_reading(self.read))
        if self.engine == "memory":
            self._refuse_engine_options()

    def _refuse_engine_options(self) -> None:
        for name in ("workers", "scheduler", "sample_rows", "checkpoint"):
            value = getattr(self, name)
            if value != _DECLARED[name].default:
                raise InputError(
                    f"{argument(name, value)} was given with {argument('engine', 'memory')}",
                    allowed=f"{argument(name)} with the engines stream and dask",
                    fix=f"give {argument('engine', 'stream')}, or leave {argument(name)} out",
                )

    @property
    def method_name(self) -> str:
        """The name of the method."""
        return self.method if isinstance(self.method, str) else self.method.spec.name

    def make_method(self) -> Method:
        """Make the method with its options.

        Returns
        -------
        Method
            An object with ``fit``.
        """
        if not isinstance(self.method, str):
            if self.n_draws is not None:
                raise InputError(
                    f"a method object was given together with {argument('n_draws', self.n_draws)}",
                    fix="set the number of draws where the method is made",
                )
            return self.method
        drawn = {} if self.n_draws is None else {"n_draws": self.n_draws}
        if drawn and self.options.get("n_draws", self.n_draws) != self.n_draws:
            raise InputError(
                f"{argument('n_draws', self.n_draws)} was given together with the option n_draws="
                f"{self.options['n_draws']} of the method",
                allowed="one number of draws",
                fix="leave one of them out",
            )
        return get_method(self.method, **{**self.options, **drawn})

    @property
    def seed(self) -> int:
        """The seed, which `with_seed` settles."""
        if self.random_state is None:
            raise ValueError("the seed is not settled")
        return self.random_state

    @property
    def pooling(self) -> Pooling:
        """Which groups are put together."""
        return Pooling(self.min_group_rows, self.max_groups)

    def choose_groupings(self, columns: Iterable[str]) -> list[str]:
        """List the groupings to report on.

        Parameters
        ----------
        columns : iterable of str
            The group columns of the data.

        Returns
        -------
        list of str
            What ``by`` names, or every column where ``by`` is None.
        """
        if self.by is not None:
            return list(self.by)
        named = self.read.get("groups")
        return list(named) if isinstance(named, tuple) else list(columns)

    def with_seed(self) -> RunSpec:
        """Settle the seed of the run.

        Returns
        -------
        RunSpec
            The same run with the seed that it will use: a fresh one where none was asked for.
        """
        return replace(self, random_state=draw_seed()) if self.random_state is None else self

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as a config file holds it.

        Returns
        -------
        dict
            ``file``, ``read``, ``run`` and ``engine``; sections that say nothing are left out.

        Raises
        ------
        InputError
            Names what no file can hold, such as a function.

        Examples
        --------
        >>> import ssme
        >>> ssme.RunSpec(method="labeled", level=0.9).to_dict()
        {'run': {'method': 'labeled', 'level': 0.9, 'seed': 0}}
        """
        sections = {
            "read": write_reading(self.read),
            "run": {
                WRITTEN_AS.get(name, name): value
                for name, value in self._write_run().items()
                if value is not None or name == "random_state"
            },
            "engine": {
                name: getattr(self, name)
                for name in _ENGINE
                if getattr(self, name) != _DECLARED[name].default
            },
        }
        found: dict[str, Any] = {} if self.source is None else {"file": make_plain(self.source)}
        found |= {name: make_plain(part) for name, part in sections.items() if part}
        format_config(found, ".json")
        return found

    def _write_run(self) -> dict[str, Any]:
        if not isinstance(self.method, str):
            raise explain_unwritable("the method", f"an object of {type(self.method).__name__}")
        metrics = (
            None
            if self.metrics is None
            else [write_metric_entry(m, self.threshold) for m in self.metrics]
        )
        return {
            "method": self.method,
            "metrics": metrics,
            "by": self.by,
            **{
                name: getattr(self, name)
                for name in _GROUPS
                if getattr(self, name) != _DECLARED[name].default
            },
            "threshold": self.threshold,
            "level": self.level,
            "n_draws": self.n_draws,
            "random_state": self.random_state,
            "options": write_options(self.method, self.options) or None,
        }

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> RunSpec:
        """Make a spec from the content of a config file; every key and value is checked.

        Parameters
        ----------
        config : mapping
            As `to_dict` gives it, or as `ssme.config.read_config` reads it from a file.

        Returns
        -------
        RunSpec

        Examples
        --------
        >>> import ssme
        >>> ssme.RunSpec.from_dict({"run": {"method": "labeled"}}).method
        'labeled'
        """
        for key in config:
            if key not in ("file", "read", "run", "engine"):
                raise InputError(
                    f"the config has an unknown key {key!r}",
                    allowed="file, read, run, engine",
                    fix=f"{suggest_nearest(key, ('file', 'read', 'run', 'engine'))}leave it out",
                )
        found: dict[str, Any] = {}
        if config.get("file") is not None:
            found["source"] = read_value(_DECLARED["source"], "file", config["file"], None)
        found["read"] = read_reading(config.get("read") or {})
        for section, names in (("run", _RUN), ("engine", _ENGINE)):
            keys = {WRITTEN_AS.get(name, name): name for name in names}
            for key, value in take_section(config, section).items():
                if key not in keys:
                    raise explain_unknown_key(key, keys, section)
                found[keys[key]] = read_value(_DECLARED[keys[key]], key, value, section)
        return cls(**found)

    def to_text(self, suffix: str = ".toml") -> str:
        """Return the spec as the text of a config file.

        Parameters
        ----------
        suffix : {".toml", ".yaml", ".yml", ".json"}
            The format.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> import ssme
        >>> print(ssme.RunSpec(method="labeled").to_text())
        [run]
        method = "labeled"
        level = 0.95
        seed = 0
        <BLANKLINE>
        """
        return format_config(self.to_dict(), suffix)

    def save(self, path: str | Path) -> None:
        """Write the spec to a config file.

        Parameters
        ----------
        path : str or pathlib.Path
            A name that ends in .toml, .yaml, .yml or .json.
        """
        write_config(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | Path) -> RunSpec:
        """Read a spec from a config file.

        Parameters
        ----------
        path : str or pathlib.Path
            A file that `save` or ``ssme evaluate --save-config`` wrote.

        Returns
        -------
        RunSpec
        """
        return cls.from_dict(read_config(path))

    def to_python(self) -> str:
        """Write the call of `ssme.evaluate` that makes this run.

        Returns
        -------
        str
            Python source.
        """
        reading = {name: make_plain(value) for name, value in self.read.items()}
        if isinstance(reading.get("labels"), Path):
            reading["labels_file"] = str(reading.pop("labels"))
        in_memory = self.source is None
        label = reading.pop("labels", None) if "label" not in reading else reading.pop("label")
        arguments = ["scores" if in_memory else repr(make_plain(self.source))]
        if label is not None or in_memory:
            arguments.append("labels" if label is None else repr(label))
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in ("source", "read") or value == _find_default(each.name):
                continue
            arguments.append(f"{each.name}={make_plain(value)!r}")
        arguments += [f"{name}={value!r}" for name, value in reading.items()]
        inside = "".join(f"    {each},\n" for each in arguments)
        return f"ssme.evaluate(\n{inside})"


_DECLARED: dict[str, Option] = {each.name: each for each in list_declared(RunSpec)}
_ENGINE = ("engine", "workers", "scheduler", "sample_rows", "checkpoint")
_RUN = (
    "method",
    "metrics",
    "by",
    "min_group_rows",
    "max_groups",
    "group_target",
    "threshold",
    "level",
    "n_draws",
    "random_state",
    "options",
)
_GROUPS = ("min_group_rows", "max_groups", "group_target")


def _find_default(name: str) -> Any:
    return {} if name == "options" else _DECLARED[name].default

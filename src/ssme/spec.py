"""What a run is, as data: where the scores are, how they are read, what is estimated and how.

    RunSpec <-> dict <-> TOML, YAML or JSON

`ssme.evaluate`, the command line, config files and the last section of a report share it. Writing a
spec and reading it back gives an equal spec, and running that gives the same numbers to the bit.
What no file can hold (a function as a metric, an array of weights) does not keep a spec from being
run, but from being written; the error says what it is.

A config file has these parts, whose keys are the long options of the command line:

    source = "scores.csv"
    [read]      how the file is read (`ssme.schema.ReadOptions`)
    [run]       method, metrics, level, random_state (`ssme.schema.RunOptions`)
    [engine]    where the work is done
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ssme.config import format_config, make_plain, read_config, refuse_unwritable, write_config
from ssme.data.grouping import Pooling
from ssme.errors import InputError, name_argument
from ssme.methods.base import Method
from ssme.methods.registry import find_method_class, get_method, method_names
from ssme.metrics import Metric, write_metric
from ssme.metrics.kinds import DEFAULT_THRESHOLD
from ssme.options import NamedValues, Option, accept, accept_all, list_declared, make_json_schema
from ssme.schema import ReadOptions, RunOptions
from ssme.wording import cut_end, suggest_nearest

READ: dict[str, Option] = {each.name: each for each in list_declared(ReadOptions)}
RUN: dict[str, Option] = {each.name: each for each in list_declared(RunOptions)}
SECTIONS: dict[str, dict[str, Option]] = {
    "read": READ,
    "run": {n: each for n, each in RUN.items() if n != "source" and not each.section},
    "engine": {n: each for n, each in RUN.items() if each.section == "engine"},
}
ALWAYS = ("method", "level", "random_state")
"""Options that are written also where they have their default."""


@dataclass(frozen=True)
class RunSpec(RunOptions):
    """Everything that decides the result of a run, except the data itself.

    Examples
    --------
    >>> from ssme.run import RunSpec
    >>> spec = RunSpec("scores.csv", {"label": "y"}, metrics="accuracy", level=0.9)
    >>> print(spec.to_text(".toml"))
    source = "scores.csv"
    <BLANKLINE>
    [read]
    label = "y"
    <BLANKLINE>
    [run]
    method = "auto"
    metrics = ["accuracy"]
    level = 0.9
    random_state = 0
    <BLANKLINE>
    >>> RunSpec.from_dict(spec.to_dict()) == spec
    True
    """

    made_method: Method = field(init=False, repr=False, compare=False)
    """The method with its options: an object with ``fit``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        metrics = self.metrics
        if metrics is not None:
            single = isinstance(metrics, (str, Mapping, Metric)) or callable(metrics)
            listed = (metrics,) if single else tuple(metrics)
            plain = tuple(make_plain(m) if isinstance(m, Mapping) else m for m in listed)
            object.__setattr__(self, "metrics", plain)
        method, options = _settle_method(self.method, self.options)
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "made_method", self._make_method())
        object.__setattr__(self, "read", _check_reading(self.read))
        if self.engine == "memory":
            for name in ("workers", "scheduler", "sample_rows", "checkpoint"):
                value = getattr(self, name)
                if value != RUN[name].default:
                    problem = f"`{name}={value}` was given with `engine=memory`"
                    hint = f"give `engine=stream` or `engine=dask`, or leave `{name}` out"
                    raise InputError(problem, hint=hint)

    @property
    def method_name(self) -> str:
        """The name of the method."""
        return self.method if isinstance(self.method, str) else self.method.spec.name

    def _make_method(self) -> Method:
        if not isinstance(self.method, str):
            if self.n_draws is not None:
                problem = f"a method object was given together with `n_draws={self.n_draws}`"
                raise InputError(problem, hint="set the number of draws where the method is made")
            return cast(Method, self.method)
        drawn = {} if self.n_draws is None else {"n_draws": self.n_draws}
        if drawn and self.options.get("n_draws", self.n_draws) != self.n_draws:
            raise InputError(
                f"`n_draws={self.n_draws}` was given together with the option n_draws="
                f"{self.options['n_draws']} of the method",
                hint="leave one of them out",
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
        """List the groupings to report on: what ``by`` names, or every column.

        Parameters
        ----------
        columns : iterable of str
            The group columns of the data.
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
        """Return the spec as plain values, as in a config file.

        Returns
        -------
        dict
            ``source``, ``read``, ``run`` and ``engine``; sections that say nothing are left out.

        Raises
        ------
        InputError
            Names what cannot be written to a file, such as a function.

        Examples
        --------
        >>> import ssme
        >>> ssme.RunSpec(method="labeled", level=0.9).to_dict()
        {'run': {'method': 'labeled', 'level': 0.9, 'random_state': 0}}
        """
        run = {name: getattr(self, name) for name in SECTIONS["run"]}
        if not isinstance(self.method, str):
            raise _explain_unwritable("the method", f"an object of {type(self.method).__name__}")
        if self.metrics is not None:
            run["metrics"] = [_write_metric(metric, self.threshold) for metric in self.metrics]
        for each in list_declared(find_method_class(self.method)):
            if each.python_only and each.name in self.options:
                kind = type(self.options[each.name]).__name__
                raise _explain_unwritable(f"the option {each.name!r} of the method", f"a {kind}")
        parts = {
            "read": _write_reading(self.read),
            "run": _write_section({k: v for k, v in run.items() if not _is_default(k, v)}, RUN),
            "engine": {n: getattr(self, n) for n in SECTIONS["engine"]},
        }
        parts["engine"] = {k: v for k, v in parts["engine"].items() if not _is_default(k, v)}
        found: dict[str, Any] = {} if self.source is None else {"source": make_plain(self.source)}
        found |= {name: make_plain(part) for name, part in parts.items() if part}
        refuse_unwritable(found)
        return found

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> RunSpec:
        """Make a spec from the content of a config file; every key and value is checked.

        Parameters
        ----------
        config : mapping
            As `to_dict` gives it, or as `ssme.config.read_config` reads it from a file.

        Examples
        --------
        >>> import ssme
        >>> ssme.RunSpec.from_dict({"run": {"method": "labeled"}}).method
        'labeled'
        """
        _refuse_unknown(config, ("source", *SECTIONS), "the config")
        found: dict[str, Any] = {"read": _read_section(config, "read")}
        if config.get("source") is not None:
            found["source"] = _read_value(RUN["source"], "source", config["source"], None)
        return cls(**found, **_read_section(config, "run"), **_read_section(config, "engine"))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of config files, with which editors check and complete them.

        Examples
        --------
        >>> import ssme
        >>> sections = ssme.RunSpec.json_schema()["properties"]
        >>> sections["run"]["properties"]["level"]["exclusiveMaximum"]
        1.0
        """
        parts = {
            name: _make_object({o.key: _describe_key(o) for o in section.values()})
            for name, section in SECTIONS.items()
        }
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **_make_object({"source": _describe_key(RUN["source"]), **parts}),
        }

    def to_text(self, suffix: str = ".toml") -> str:
        """Return the spec as the text of a config file.

        Parameters
        ----------
        suffix : {".toml", ".yaml", ".yml", ".json"}
            The format.

        Examples
        --------
        >>> import ssme
        >>> print(ssme.RunSpec(method="labeled").to_text())
        [run]
        method = "labeled"
        level = 0.95
        random_state = 0
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
        """
        config = read_config(path)
        try:
            return cls.from_dict(config)
        except InputError as error:
            raise error.at(f"config {path}") from None

    def to_python(self) -> str:
        """Write the call of `ssme.evaluate` that makes this run."""
        reading = {name: make_plain(value) for name, value in self.read.items()}
        if isinstance(reading.get("labels_file"), Path):
            reading["labels_file"] = str(reading["labels_file"])
        in_memory = self.source is None
        label = reading.pop("label", None)
        arguments = ["scores" if in_memory else repr(make_plain(self.source))]
        if label is not None or in_memory:
            arguments.append("labels" if label is None else repr(label))
        for name, declared in RUN.items():
            value = getattr(self, name)
            if name != "source" and value != declared.default:
                arguments.append(f"{name}={make_plain(value)!r}")
        arguments += [f"{name}={value!r}" for name, value in reading.items()]
        inside = "".join(f"    {each},\n" for each in arguments)
        return f"ssme.evaluate(\n{inside})"


def _make_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _describe_key(option: Option) -> dict[str, Any]:
    kind = make_json_schema(option.file_kind or option.kind)
    return {"description": option.meaning, **kind}


def _is_default(name: str, value: Any) -> bool:
    return name not in ALWAYS and value == RUN[name].default


def _write_section(values: Mapping[str, Any], declared: Mapping[str, Option]) -> dict[str, Any]:
    """The values by their keys in a config file."""
    return {
        declared[name].key: str(value) if isinstance(value, Path) else value
        for name, value in values.items()
    }


def _write_reading(read: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in read.items():
        if name not in READ or _holds_data(name, value):
            what = "the source of the labels" if name == "labels_file" else f"`{name}`"
            raise _explain_unwritable(what, f"a {type(value).__name__}")
    written = _write_section(read, READ)
    if isinstance(read.get("models"), Mapping):
        written["models"] = {model: _write_columns(of) for model, of in read["models"].items()}
    return written


def _write_columns(columns: Any) -> Any:
    """Columns by class as pairs where a class is not text, as the keys of a table have to be."""
    if isinstance(columns, Mapping) and not all(isinstance(name, str) for name in columns):
        return [list(pair) for pair in columns.items()]
    return columns


def _read_columns(columns: Any) -> Any:
    pairs = isinstance(columns, list) and all(
        isinstance(each, list) and len(each) == 2 for each in columns
    )
    return dict(columns) if pairs and columns else columns


def _read_section(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The options in a section by their names in Python, each checked."""
    section = config.get(name) or {}
    if not isinstance(section, Mapping):
        raise InputError(f"{name!r} in the config is not a section", hint=f"write a table [{name}]")
    keys = {each.key: each for each in SECTIONS[name].values()}
    _refuse_unknown(section, tuple(keys), f"section [{name}] of the config")
    found: dict[str, Any] = {}
    for key, value in section.items():
        if key == "models" and isinstance(value, Mapping):
            value = {model: _read_columns(columns) for model, columns in value.items()}
        found[keys[key].name] = _read_value(keys[key], key, value, name)
    return found


def _refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            problem = f"{where} has an unknown key {key!r}"
            hint = f"{suggest_nearest(key, known)}it may have {', '.join(known)}"
            raise InputError(problem, hint=hint)


def _read_value(option: Option, key: str, value: Any, section: str | None) -> Any:
    where = "in the config" if section is None else f"in section [{section}] of the config"
    kind = option.file_kind or option.kind
    try:
        return kind.accept(value)
    except (ValueError, TypeError, OverflowError):
        shown = cut_end(json.dumps(value, ensure_ascii=False, default=str), 80)
        problem = f"{key} {where} must be {kind.describe()}, got {shown}"
        hint = "text is written in quotation marks, numbers, true and false without"
        raise InputError(problem, hint=hint) from None


def _write_metric(metric: Any, threshold: float | None) -> Any:
    if isinstance(metric, (str, Mapping)):
        return metric
    data = write_metric(metric) if isinstance(metric, Metric) else None
    if data is not None:
        plain = threshold is None and data.get("threshold") == DEFAULT_THRESHOLD
        data = {key: value for key, value in data.items() if not (plain and key == "threshold")}
        return data["name"] if len(data) == 1 else data
    name = getattr(metric, "name", getattr(metric, "__name__", type(metric).__name__))
    raise _explain_unwritable(f"the metric {name!r}", f"a {type(metric).__name__}")


def _explain_unwritable(what: str, kind: str) -> InputError:
    return InputError(
        f"{what} is {kind}, which cannot be written to a file",
        hint="call ssme.evaluate from Python to run this again",
    )


def draw_seed() -> int:
    """A seed that nobody has chosen, short enough to be written down."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def _settle_method(method: Any, options: Any) -> tuple[str | Method, dict[str, Any]]:
    """Name and checked options of a method that is in the registry; else the object itself."""
    given = NamedValues().accept(options or {})
    if isinstance(method, str):
        with name_argument("method"):
            known = find_method_class(method)
        if list_declared(known) or not given:
            return method, accept_all(known, given, f"method {method!r}")
        get_method(method, **given)
        return method, given
    if not hasattr(method, "spec") or not hasattr(method, "fit"):
        raise InputError(
            option="method",
            value=method,
            must="be the name of a method or a method object",
            hint=f"choose one of: {', '.join(method_names())}",
        )
    if given:
        problem = f"a method object was given together with `options` {', '.join(given)}"
        raise InputError(problem, hint="set its options when you make it")
    name = method.spec.name
    if name not in method_names() or type(method) is not find_method_class(name):
        return cast(Method, method), {}
    plain = get_method(name)
    return name, {
        each.name: getattr(method, each.name)
        for each in fields(cast(Any, method))
        if each.init and not _compare(getattr(method, each.name), getattr(plain, each.name))
    }


def _compare(one: Any, two: Any) -> bool:
    try:
        return bool(one == two)
    except ValueError:
        return False


def _check_reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options of reading, in one form each; arrays that come with them are left as they are."""
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        known = READ.get(name)
        if known is None or _holds_data(name, value):
            checked[name] = value
        elif value is not False or known.default is not False:
            checked[name] = accept(known, value)
    return checked


def _holds_data(name: str, value: Any) -> bool:
    """Whether an option of reading is given as values of the rows."""
    if name == "design":
        return not isinstance(value, str)
    if name == "labels_file":
        return not isinstance(value, (str, Path, bool))
    return name == "groups" and isinstance(value, Mapping)

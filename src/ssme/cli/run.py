"""A run: one file, how to read it, what to estimate; from options and config, back to config."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.cli.options import ENGINES, EngineOptions, MetricOptions, ReadOptions, merged
from ssme.config import read_config
from ssme.errors import InputError

if TYPE_CHECKING:
    from ssme.data.layout import Layout
    from ssme.data.scoreset import ScoreSet
    from ssme.evaluation import Evaluation

__all__ = ["Run"]

READ_NAMES = {"group": "groups"}
RUN_NAMES = {"metric": "metrics", "draws": "n_draws", "seed": "random_state", "option": "options"}
"""Options whose name on the command line differs from the one in Python."""


@dataclass(frozen=True)
class Run:
    """What a command was asked to do, free of defaults, so that it can be saved and repeated."""

    file: str
    read_options: dict[str, Any]
    run_options: dict[str, Any]
    engine_options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def gather(
        cls,
        file: Path | None,
        read: ReadOptions,
        run: MetricOptions,
        config: Path | None = None,
        engine: EngineOptions | None = None,
    ) -> Run:
        """The command line over the config file."""
        base = read_config(config) if config is not None else {}
        name = _address(file) if file is not None else _file_in(base)
        if name is None:
            raise InputError("no FILE was given", fix="name the file that holds the scores")
        return cls(
            str(name),
            merged(read, base.get("read", {}), "read"),
            merged(run, base.get("run", {}), "run"),
            merged(engine or EngineOptions(), base.get("engine", {}), "engine"),
        )

    @property
    def config(self) -> dict[str, Any]:
        """As a config file holds it."""
        sections = {
            "read": self.read_options,
            "run": self.run_options,
            "engine": self.engine_options,
        }
        return {
            "file": self.file,
            **{name: _plain(part) for name, part in sections.items() if part},
        }

    @property
    def inputs(self) -> list[str]:
        """Files that are read."""
        labels = self.read_options.get("labels_file")
        return [self.file] if labels is None else [self.file, labels]

    @property
    def streams(self) -> bool:
        """Whether the rows are to be passed over rather than held."""
        engine = str(self.engine_options.get("engine", "memory"))
        if engine not in ENGINES:
            raise InputError(f"--engine {engine}", allowed=", ".join(ENGINES))
        others = [f"--{key.replace('_', '-')}" for key in self.engine_options if key != "engine"]
        if engine == "memory" and others:
            raise InputError(
                f"{', '.join(others)} without --engine stream or --engine dask",
                fix="name the engine, or leave these out",
            )
        return engine != "memory"

    def stream(self, metrics: list[str] | None) -> Evaluation:
        """Evaluate Parquet files of any size in one pass."""
        from ssme.stream import evaluate_parquet

        for key in ("labels_file", "no_labels"):
            if key in self.read_options:
                option = f"--{key.replace('_', '-')}"
                raise InputError(
                    f"{option} with an engine that passes over the rows", fix="use --label"
                )
        options = {**self._reading(), **self._running(), "metrics": metrics}
        options |= {k: v for k, v in self.engine_options.items() if k != "engine"}
        executor = "dask" if self.engine_options["engine"] == "dask" else "threads"
        result = evaluate_parquet(self.file, executor=executor, **options)
        return dataclasses.replace(result, settings={**result.settings, "config": self.config})

    def read(self) -> ScoreSet:
        """The scores, refused where no label column is named or recognized."""
        from ssme.data.scoreset import ScoreSet

        options = self._reading()
        labels = options.pop("labels_file", None)
        no_labels = options.pop("no_labels", False)
        elsewhere = False if no_labels else labels and Path(labels)
        data = ScoreSet.read(self.file, elsewhere, **options)
        if not no_labels and data.n_labeled == 0 and data.layout is not None:
            _refuse_unnamed_labels(data.layout)
        return data

    def evaluate(self, data: ScoreSet, **changes: Any) -> Evaluation:
        """Evaluate ``data``; ``changes`` (such as another method) go over the options."""
        from ssme.run import evaluate

        result = evaluate(data, **{**self._running(), **changes})
        settings = {**result.settings, "config": self.config, "file_sha256": _digest(self.file)}
        return dataclasses.replace(result, settings=settings)

    def _reading(self) -> dict[str, Any]:
        """The options of reading, by their names in Python."""
        options = {READ_NAMES.get(key, key): value for key, value in self.read_options.items()}
        for key in ("classes", "unlabeled"):
            if key in options:
                values = options[key] if isinstance(options[key], list | tuple) else [options[key]]
                options[key] = [_class_name(item) for item in values]
        if "positive" in options:
            options["positive"] = _class_name(options["positive"])
        return options

    def _running(self) -> dict[str, Any]:
        """The options of the evaluation, by their names in Python."""
        return {RUN_NAMES.get(key, key): value for key, value in self.run_options.items()}

    def recognized(self, data: ScoreSet) -> list[str]:
        """Sentences on what was recognized without being named."""
        layout = data.layout
        if layout is None:
            return []
        named = self.read_options
        said = []
        if layout.label and "label" not in named:
            said.append(f"Label column: {layout.label!r}, by its name (--label chooses another).")
        if layout.columns and "models" not in named and "pattern" not in named:
            names = ", ".join(data.models[:8]) + (", ..." if data.n_models > 8 else "")
            said.append(f"Models: {names} (--models chooses others).")
        if layout.groups and "group" not in named:
            said.append(f"Group columns: {', '.join(layout.groups)}, by their names.")
        if layout.weight and "weight" not in named:
            said.append(f"Weight column: {layout.weight!r}, by its name.")
        if layout.ignored:
            said.append(f"Columns left out: {', '.join(layout.ignored)}.")
        return said


def _plain(section: dict[str, Any]) -> dict[str, Any]:
    return {key: list(v) if isinstance(v, tuple) else v for key, v in section.items()}


def _file_in(config: dict[str, Any]) -> str | None:
    file = config.get("file")
    if file is not None and (not isinstance(file, str) or not file.strip()):
        raise InputError(f"the config has file = {file!r}", allowed="the path of a file, as text")
    return file


def _refuse_unnamed_labels(layout: Layout) -> None:
    """No label was found though a column that was left out may hold them."""
    if layout.label is None and layout.labels_source is None and layout.ignored:
        raise InputError(
            "no label column was named or recognized",
            allowed="one of the columns left out: " + ", ".join(map(repr, layout.ignored)),
            fix="name it with --label, or say --no-labels",
        )


def _class_name(value: Any) -> Any:
    """Classes typed on a command line: whole numbers and true/false are meant as such."""
    if not isinstance(value, str):
        return value
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        return int(value)
    except ValueError:
        return value


def _address(file: Path) -> str:
    """A path as typed: ``s3://...`` has lost a slash by being taken for a path."""
    return re.sub(r"^(\w{2,}):/(?!/)", r"\1://", str(file))


def _digest(file: str) -> str | None:
    import hashlib

    path = Path(file)
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

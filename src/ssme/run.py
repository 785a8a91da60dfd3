"""The one door: scores and a few labels in, an `Evaluation` out, wherever the work is done.

source --ScoreSet--> method.fit --> belief.estimate(metrics, groups) --> Evaluation

`evaluate` puts what it is asked into a `RunSpec`; `rerun` takes one that was kept.
"""

from __future__ import annotations

import glob
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from ssme import fitting, schema, wording
from ssme.data.readers.reading import as_score_set, is_dataset, read_several, reading_options
from ssme.data.readers.tables import is_frame
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, warn
from ssme.methods import base, registry
from ssme.options import accept, takes
from ssme.results.evaluation import Evaluation
from ssme.spec import READ, RUN, RunSpec

ALSO_CALLED = {
    "seed": "random_state",
    "draws": "n_draws",
    "group": "groups",
    "label": "y",
    "labels": "y",
    "y_true": "y",
}
"""Options by the names that other tools give them."""


@takes(schema.RunOptions, without=("source",))
def evaluate(source: Any, y: Any = None, **options: Any) -> Evaluation:
    """Estimate every classifier's metrics from few labels and many unlabeled rows.

    Parameters
    ----------
    source : str, Path, data frame, Hugging Face dataset, array, dict or ScoreSet
        The scores: the path of a CSV, Parquet, Excel, JSON Lines, npy or npz file; a pandas, polars
        or pyarrow frame; a ``datasets.Dataset``; an array (n, M) of P(positive) or (n, M, K) of
        class probabilities; a dict from model to array; or a `ssme.ScoreSet`. A string is always a
        path, and several paths are joined by id: ``["old.csv", "new.csv"]``. Engines other than
        ``"memory"`` take Parquet: a file, a folder, a pattern such as ``"parts/*.parquet"``, an
        address such as ``"s3://bucket/scores/"``, or a list of these.
    y : str, array, Path or False, optional
        The labels. A string is always the name of a column (or of an array in an npz file). An
        array (n,) contains the labels themselves, NaN or None where unknown. A ``Path`` is a file
        with labels, joined by id, as is the option ``labels_file``. False says that no row has a
        label.
    **options
        How the scores are read: options of `ssme.ScoreSet.read` (``models``, ``classes``,
        ``groups``, ``unlabeled``, ``logits`` and others).

    Returns
    -------
    Evaluation
        Estimates, intervals, warnings, and in ``settings["config"]`` the run itself, which `rerun`
        repeats.

    Examples
    --------
    >>> import ssme
    >>> from ssme.sample import sample_path
    >>> result = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
    >>> result.frame()[["model", "estimate"]].shape
    (6, 2)
    """
    start = time.perf_counter()
    asked = {name: options.pop(name) for name in RUN if name in options and name != "source"}
    _refuse_unknown(options, source, asked.get("method", "auto"))
    reading, labels = _locate_labels(source, y, options)
    return execute(RunSpec(_find_paths(source), reading, **asked), source, labels, start)


def rerun(
    spec: RunSpec | Mapping[str, Any] | str | Path, source: Any = None, y: Any = None
) -> Evaluation:
    """Run again what was kept: the same numbers to the bit, if data and versions are the same.

    Parameters
    ----------
    spec : RunSpec, dict, str or Path
        A spec, ``settings["config"]`` of a result, or the path of a config file.
    source, y : optional
        Scores and labels, as `evaluate` takes them, of a run whose scores were not in a file.

    Examples
    --------
    >>> import ssme
    >>> from ssme.sample import sample_path
    >>> first = ssme.evaluate(sample_path(), "label", id="id", random_state=None)
    >>> again = ssme.rerun(first.settings["config"])
    >>> first.frame().equals(again.frame())
    True
    """
    start = time.perf_counter()
    if isinstance(spec, (str, Path)):
        spec = RunSpec.load(spec)
    elif isinstance(spec, Mapping):
        spec = RunSpec.from_dict(spec)
    if (source is None) == (spec.source is None):
        raise InputError(
            "the spec names no file and no scores were given"
            if source is None
            else "scores were given for a spec that names its file",
            hint="give the scores and labels of that run"
            if source is None
            else "leave the scores out, or use ssme.evaluate",
        )
    if source is None:
        return execute(spec, spec.source, None, start)
    reading, labels = _locate_labels(source, y, dict(spec.read))
    if reading != dict(spec.read):
        raise InputError("the label column was given twice", hint="leave it out")
    return execute(spec, source, labels, start)


def read_scores(spec: RunSpec) -> ScoreSet:
    """The scores in the file that ``spec`` names."""
    return _read(spec, spec.source, None)


def execute(
    spec: RunSpec, source: Any, labels: Any = None, start: float | None = None
) -> Evaluation:
    """Do what ``spec`` says with ``source``: the file it names, or scores in memory."""
    start = time.perf_counter() if start is None else start
    spec = settle_engine(spec).with_seed()
    if spec.engine == "memory":
        from threadpoolctl import threadpool_limits

        data = _read(spec, source, labels)
        # where BLAS splits a product between threads, the last bit depends on how many there are
        with threadpool_limits(1, user_api="blas"):
            return fitting.fit_method(data, spec).make_evaluation(start)
    if spec.source is None:
        problem = f"`engine={spec.engine}` was given for scores that are in memory"
        raise InputError(problem, hint="give the path of a Parquet file, or leave `engine` out")
    from ssme.stream.evaluation import evaluate_stream

    return evaluate_stream(spec, start)


def settle_engine(spec: RunSpec) -> RunSpec:
    """``engine="stream"``, with a warning, where the source is several Parquet files."""
    sources = (spec.source,) if isinstance(spec.source, str) else tuple(spec.source or ())
    if spec.engine != "memory" or not sources or not all(map(_is_several, sources)):
        return spec
    warn(f"{sources[0]} contains several Parquet files, which are streamed (`engine=stream`)")
    return replace(spec, engine="stream")


def _is_several(source: str) -> bool:
    """Whether this is a folder of Parquet files, a pattern or an address that matches some."""
    if "://" in source and not source.startswith("file:"):
        return True
    path = Path(source)
    with suppress(OSError, ValueError):
        if path.is_dir():
            return any(path.rglob("*.parquet"))
        return not path.exists() and any(
            name.endswith(".parquet") for name in glob.iglob(source, recursive=True)
        )
    return False


def _read(spec: RunSpec, source: Any, labels: Any) -> ScoreSet:
    if isinstance(source, ScoreSet):
        design = spec.read.get("design")
        read_before = spec.source is not None and source.design.kind is not None
        return source if design is None or read_before else source.with_design(design)
    reading = dict(spec.read)
    apart = reading.pop("labels_file", None)
    labels = apart if labels is None else labels
    if isinstance(source, (list, tuple)) and spec.source is not None:
        if len(source) > 1:
            return read_several(source, labels, reading)
        source = source[0]
    return as_score_set(source, labels, **reading)


def _find_paths(source: Any) -> Any:
    """The source if it is one or more files; None if the caller passes the scores."""
    if isinstance(source, (str, Path)):
        return source
    several = isinstance(source, (list, tuple)) and len(source) > 0
    return source if several and all(isinstance(s, (str, Path)) for s in source) else None


def _locate_labels(source: Any, y: Any, options: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Options of reading that say where the labels are, and the labels where the caller has them.

    A string names a column, a ``Path`` a file.
    """
    reading = dict(options)
    file = reading.pop("labels_file", None)
    if isinstance(source, ScoreSet):
        others = sorted(set(reading) - {"design"})
        if y is not None or file is not None or others:
            given = ["y"] * (y is not None) + ["labels_file"] * (file is not None)
            problem = f"a ScoreSet was given together with {', '.join(given + others)}"
            hint = "pass these to ScoreSet.from_arrays, from_frame or read instead"
            raise InputError(problem, hint=hint)
        return reading, None
    if file is not None:
        file = accept(READ["labels_file"], file)
        if y is not None and not isinstance(y, str):
            problem = f"`labels_file={file}` was given together with other labels"
            raise InputError(problem, hint="leave one of them out")
        reading["labels_file"] = file
    if y is None:
        return reading, None
    if isinstance(y, str):
        if _find_paths(source) is None and not (is_frame(source) or is_dataset(source)):
            raise InputError(
                f"`y={y!r}` names a column, and the scores are arrays",
                hint="give the labels as an array (n,), NaN or None where unknown, or the scores "
                "as a frame or a file",
            )
        if reading.get("label", y) != y:
            problem = f"`y={y!r}` was given together with `label={reading['label']!r}`"
            raise InputError(problem, hint="leave one of them out")
        return {**reading, "label": y}, None
    if y is False or isinstance(y, Path):
        return {**reading, "labels_file": y}, None
    if _find_paths(source) is not None:
        reading["labels_file"] = y  # so that the spec says that it does not hold them
    return reading, y


def _refuse_unknown(options: dict[str, Any], source: Any, method: str | base.Method) -> None:
    """Refuse what neither `evaluate` nor the reader of ``source`` knows."""
    one = Path() if _find_paths(source) is not None else source
    reading = list(dict.fromkeys([*reading_options(one), "labels_file"]))
    unknown = [name for name in options if name not in reading]
    if not unknown:
        return
    name, own = unknown[0], ["y", *(name for name in RUN if name != "source")]
    kind: Any = registry.find_method_class(method) if isinstance(method, str) else type(method)
    if name in ALSO_CALLED:
        cure = f"did you mean {ALSO_CALLED[name]!r}? "
    elif is_dataclass(kind) and name in {each.name for each in fields(kind)}:
        cure = f"it is an option of the method: options={{{name!r}: ...}}; "
    else:
        cure = wording.suggest_nearest(name, [*own, *reading]) or "leave it out; "
    problem = f"evaluate has no option {name!r} for these scores"
    hint = f"{cure}it has {', '.join(own)}; for reading the scores {', '.join(reading)}"
    raise InputError(problem, hint=hint)

"""The one door: scores and a few labels in, an `Evaluation` out, wherever the work is done.

source --ScoreSet--> method.fit --> belief.estimate(metrics, groups) --> Evaluation

`evaluate` puts what it is asked into a `RunSpec`; `rerun` takes one that was kept.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from ssme.data.readers.reading import as_score_set, is_dataset, reading_options
from ssme.data.readers.tables import is_frame
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.fitting import fit_method
from ssme.methods.base import Method
from ssme.methods.registry import find_method_class
from ssme.metrics import MetricSpec
from ssme.results.evaluation import Evaluation
from ssme.schema import SAMPLE_ROWS
from ssme.spec import RunSpec
from ssme.wording import suggest_nearest

UNDEFINED_SHOWN = 20
"""Undefined values that are warned of one by one."""

ALSO_CALLED = {
    "seed": "random_state",
    "draws": "n_draws",
    "group": "groups",
    "label": "y",
    "labels": "y",
    "y_true": "y",
}
"""Options by the names that other tools give them."""


def evaluate(
    source: Any,
    y: Any = None,
    *,
    method: str | Method = "auto",
    metrics: MetricSpec | Mapping[str, Any] | Sequence[Any] | None = None,
    by: str | Sequence[str] | None = None,
    min_group_rows: int = 1,
    max_groups: int = 200,
    group_target: str = "population",
    threshold: float | None = None,
    level: float = 0.95,
    n_draws: int | None = None,
    random_state: int | None = 0,
    options: Mapping[str, Any] | None = None,
    design: Any = None,
    engine: str = "memory",
    workers: int | None = None,
    scheduler: str | None = None,
    sample_rows: int = SAMPLE_ROWS,
    checkpoint: str | Path | None = None,
    **data_options: Any,
) -> Evaluation:
    """Estimate every classifier's metrics from few labels and many unlabeled rows.

    Parameters
    ----------
    source : str, Path, data frame, Hugging Face dataset, array, dict or ScoreSet
        The scores: the path of a CSV, Parquet, Excel, JSON Lines, npy or npz file; a pandas, polars
        or pyarrow frame; a ``datasets.Dataset``; an array (n, M) of P(positive) or (n, M, K) of
        class probabilities; a dict from model to array; or a `ssme.ScoreSet`. A string is always a
        path. Engines other than ``"memory"``
        take Parquet: a file, a folder, a pattern such as ``"parts/*.parquet"``, an address such
        as ``"s3://bucket/scores/"``, or a list of these.
    y : str, array, Path or False, optional
        The labels. A string is always the name of a column (or of an array in an npz file). An
        array (n,) holds the labels themselves, NaN or None where unknown. A ``Path`` is a file
        with labels, joined by id, as is the option ``labels_file``. False says that no row has a
        label.
    method : str or Method, default "auto"
        A name that ``ssme methods`` lists, or a method object.
    metrics : str, Metric, callable, dict or list of these, optional
        Names that ``ssme metrics`` lists, `ssme.Metric` objects, functions
        ``(y_true, y_score) -> float``, or names with options such as
        ``{"name": "ece", "norm": "l2"}``. By default the metrics of the SSME paper.
    by : str or list of str, optional
        Groups to report on beside all rows: a group column (``"sex"``), numbers in bins
        (``"age:quantiles=4"``, ``"age:edges=30/50"``), or intersections of these joined by +
        (``"sex+race"``). By default those of ``groups``, or all group columns that the data has.
    min_group_rows : int, default 1
        Number of rows that a group needs to stand by itself. Smaller ones are put together into
        one group, whose name says how many they are.
    max_groups : int, default 200
        Largest number of groups of one grouping; the smaller ones beyond it are put together too.
    group_target : {"population", "rows"}, default "population"
        What the intervals of groups are about: all rows that the rows of a group stand for, or
        just the rows at hand.
    threshold : float, optional
        P(positive) from which a binary classifier says "positive" (default 0.5).
    level : float, default 0.95
        Coverage of the intervals.
    n_draws : int, optional
        Number of draws, for methods that draw.
    random_state : int or None, default 0
        Seed of the random numbers. The same seed gives the same result to the bit. With None, a
        fresh seed is taken and recorded in ``settings["random_state"]``.
    options : dict, optional
        Further options of the method; ``ssme methods NAME`` lists them.
    design : str or array, optional
        How rows were chosen for labeling: ``"random"``, ``"by_class"``, ``"by_score"``, or how many
        rows each label stands for (one over its chance to be chosen), as an array (n,) or the name
        of a column; see `ssme.ScoreSet.with_design`. A method that cannot use it says so.
    engine : {"memory", "stream", "dask"}, default "memory"
        Where the work is done. ``"stream"`` passes once over Parquet files of any size on this
        machine, ``"dask"`` does so on a cluster.
    workers : int, optional
        Number of threads of ``"stream"``, or of processes of a local Dask cluster; by default one
        per core.
    scheduler : str, optional
        Address of a running Dask scheduler; by default a local cluster is started.
    sample_rows : int, default 20,000
        Number of unlabeled rows that the method is fitted on when rows are streamed.
    checkpoint : str or Path, optional
        File that keeps the sums of a stream. If the stream is cut off, the same call goes on from
        there. It is deleted at the end.
    **data_options
        How the scores are read: options of `ssme.ScoreSet.read` (``models``, ``classes``,
        ``groups``, ``unlabeled``, ``logits`` and others).

    Returns
    -------
    Evaluation
        Estimates, intervals, doubts, and in ``settings["config"]`` the run itself, which `rerun`
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
    _refuse_unknown(data_options, source, method)
    if design is not None:
        data_options["design"] = design
    reading, labels = _locate_labels(source, y, data_options)
    spec = RunSpec(
        source=_find_paths(source),
        read=reading,
        method=method,
        options=options or {},
        metrics=metrics,  # type: ignore[arg-type]
        by=by,  # type: ignore[arg-type]
        min_group_rows=min_group_rows,
        max_groups=max_groups,
        group_target=group_target,
        threshold=threshold,
        level=level,
        n_draws=n_draws,
        random_state=random_state,
        engine=engine,
        workers=workers,
        scheduler=scheduler,
        sample_rows=sample_rows,
        checkpoint=checkpoint,  # type: ignore[arg-type]
    )
    return execute(spec, source, labels, start)


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

    Returns
    -------
    Evaluation

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
    spec = spec.with_seed()
    if spec.engine == "memory":
        return fit_method(_read(spec, source, labels), spec).make_evaluation(start)
    if spec.source is None:
        raise InputError(
            f"`engine={spec.engine}` was given for scores that are in memory",
            hint="give the path of a Parquet file, or leave `engine` out",
        )
    from ssme.stream.evaluation import evaluate_stream

    return evaluate_stream(spec, start)


def _read(spec: RunSpec, source: Any, labels: Any) -> ScoreSet:
    if isinstance(source, ScoreSet):
        design = spec.read.get("design")
        read_before = spec.source is not None and source.design.kind is not None
        return source if design is None or read_before else source.with_design(design)
    if isinstance(source, (list, tuple)) and spec.source is not None:
        if len(source) != 1:
            raise InputError(
                f"{len(source)} files were given with `engine=memory`",
                hint="join them into one, or use `engine=stream` for Parquet files",
            )
        source = source[0]
    reading = dict(spec.read)
    apart = reading.pop("labels_file", None)
    return as_score_set(source, apart if labels is None else labels, **reading)


def _find_paths(source: Any) -> Any:
    """The source where it is one or more files; None where the caller holds the scores."""
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
            raise InputError(
                f"a ScoreSet was given together with {', '.join(given + others)}",
                hint="pass these to ScoreSet.from_arrays, from_frame or read instead",
            )
        return reading, None
    if file is not None:
        if y is not None and not isinstance(y, str):
            raise InputError(
                f"`labels_file={file}` was given together with other labels",
                hint="leave one of them out",
            )
        reading["labels_file"] = file if file is False else Path(file)
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
            raise InputError(
                f"`y={y!r}` was given together with `label={reading['label']!r}`",
                hint="leave one of them out",
            )
        return {**reading, "label": y}, None
    if y is False or isinstance(y, Path):
        return {**reading, "labels_file": y}, None
    if _find_paths(source) is not None:
        reading["labels_file"] = y  # so that the spec says that it does not hold them
    return reading, y


def _refuse_unknown(options: dict[str, Any], source: Any, method: str | Method) -> None:
    """Refuse what neither `evaluate` nor the reader of ``source`` knows."""
    one = Path() if _find_paths(source) is not None else source
    reading = list(dict.fromkeys([*reading_options(one), "labels_file"]))
    unknown = [name for name in options if name not in reading]
    if not unknown:
        return
    name, parameters = unknown[0], inspect.signature(evaluate).parameters.values()
    own = ["y", *(each.name for each in parameters if each.kind == each.KEYWORD_ONLY)]
    kind: Any = find_method_class(method) if isinstance(method, str) else type(method)
    if name in ALSO_CALLED:
        cure = f"did you mean {ALSO_CALLED[name]!r}? "
    elif is_dataclass(kind) and name in {each.name for each in fields(kind)}:
        cure = f"it is an option of the method: options={{{name!r}: ...}}; "
    else:
        cure = suggest_nearest(name, [*own, *reading]) or "leave it out; "
    raise InputError(
        f"evaluate has no option {name!r} for these scores",
        hint=f"{cure}it has {', '.join(own)}; for reading the scores {', '.join(reading)}",
    )

"""A metric for Inspect: the rate that people would find, from a scorer's verdicts on all samples.

from ssme.systems.inspect import corrected_rate

@scorer(metrics=[accuracy(), corrected_rate("human.csv")])
def grader(): ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ssme.data.readers import sources, tables
from ssme.errors import InputError
from ssme.systems.evaluation import evaluate_systems

ID = ("id", "item", "sample_id")
"""Columns that name a sample in a file of human verdicts."""


def corrected_rate(human: str | Path, column: str = "human", level: float = 0.95) -> Any:
    """The pass rate of a scorer corrected by few human verdicts, as a metric of Inspect.

    Parameters
    ----------
    human : str or Path
        What people say of some samples: a table with the columns ``id`` (or ``item``) and
        ``column``; or, where there is no such file, a key of the samples' metadata.
    column : str
        Column with the verdicts of people, pass or fail.
    level : float
        Coverage of the interval.

    Returns
    -------
    Metric
        Its values are ``estimate``, ``low``, ``high`` and ``judge``, the mean of the scores.
    """
    from inspect_ai.scorer import metric

    @metric(name="corrected_rate")  # type: ignore[untyped-decorator]
    def make(human: str, column: str, level: float) -> Any:
        def compute(scores: Sequence[Any]) -> dict[str, float]:
            return estimate_from_scores(scores, human, column, level)

        return compute

    return make(str(human), column, level)


def estimate_from_scores(
    scores: Sequence[Any], human: str, column: str, level: float
) -> dict[str, float]:
    """The values of the metric, of objects with ``score``, ``sample_id``, ``sample_metadata``."""
    names = [str(each.sample_id) for each in scores]
    if Path(human).is_file():
        told = _read_people(Path(human), column)
    else:
        found = [each.sample_metadata or {} for each in scores]
        told = {n: m[human] for n, m in zip(names, found, strict=True) if m.get(human) is not None}
        if not told:
            problem = f"no file {human!r}, and no sample has {human!r} in its metadata"
            raise InputError(problem, hint="give a table with the columns id and human")
    table = {
        "item": np.array(names, dtype=object),
        "judge_score": np.array([each.score.as_float() for each in scores]),
        "human": np.array([told.get(name) for name in names], dtype=object),
    }
    row = evaluate_systems(table, "human", level=level).rows()[0]
    return {
        **{name: row[name] for name in ("estimate", "low", "high")},
        "judge": row["judges"],
    }


def _read_people(path: Path, column: str) -> Mapping[str, Any]:
    table = tables.Table(sources.open_table(path), str(path))
    key = next((name for name in ID if name in table.columns), None)
    if key is None or column not in table.columns:
        problem = f"{path} has the columns {', '.join(table.columns)}"
        raise InputError(problem, hint=f"give it the columns id and {column}")
    names = [str(value) for value in table.read_values(key)]
    return dict(zip(names, table.read_values(column).tolist(), strict=True))

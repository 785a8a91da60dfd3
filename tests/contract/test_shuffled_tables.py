"""Shuffled rows, columns and models of a table give the same set and the same numbers.

Classes are text, in an order that is known, listed or neither; every reader is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.written import Dataset, list_columns, make_frame, write_table

import ssme
from ssme import ScoreSet
from ssme.metrics import get_metric, metric_names, one_hot_mass

many = settings(max_examples=10, deadline=None, derandomize=True)

CLASSES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "known pair": (("yes", "no"), {}),
    "pair in capitals": (("Positive", "NEGATIVE"), {}),
    "numbers": (("10", "9", "2"), {}),
    "other pair": (("spam", "ham"), {}),
    "positive named": (("spam", "ham"), {"positive": "ham"}),
    "grades": (("low", "medium", "high"), {}),
    "grades listed": (("low", "medium", "high"), {"classes": ["low", "medium", "high"]}),
}


@dataclass(frozen=True)
class Problem:
    """Scores (n, M, K) of ``models`` over ``classes``; labels are class numbers, -1 for none."""

    classes: tuple[str, ...]
    options: dict[str, Any]
    models: tuple[str, ...]
    scores: np.ndarray[Any, Any]
    labels: np.ndarray[Any, Any]
    sites: np.ndarray[Any, Any]

    @classmethod
    def draw(cls, seed: int, kind: str) -> Problem:
        rng = np.random.default_rng(seed)
        names, options = CLASSES[kind]
        n, models = int(rng.integers(12, 40)), ("bert", "gpt", "t5")
        truth = rng.integers(0, len(names), n)
        logits = rng.normal(size=(n, 3, len(names)))
        logits += 1.5 * (truth[:, None, None] == np.arange(len(names)))
        scores = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
        scores[rng.random((n, 3)) < 0.05] = np.nan
        scores[np.isnan(scores).all(axis=(1, 2)), 0] = 1.0 / len(names)
        labels = np.where(rng.random(n) < 0.6, truth, -1)
        labels[: len(names)] = np.arange(len(names))
        return cls(names, options, models, scores, labels, rng.choice(["north", "south"], n))

    def make_wide(self, rng: np.random.Generator) -> pd.DataFrame:
        """One column per model and class, rows and columns in any order."""
        columns: dict[str, Any] = {"id": np.arange(len(self.labels)), "group_site": self.sites}
        columns["label"] = [None if y < 0 else self.classes[y] for y in self.labels]
        for m, model in enumerate(self.models):
            for k, name in enumerate(self.classes):
                columns[f"{model}:{name}"] = self.scores[:, m, k]
        order = rng.permutation(list(columns)).tolist()
        return pd.DataFrame(columns)[order].sample(frac=1.0, random_state=int(rng.integers(1e9)))

    def make_long(self, rng: np.random.Generator) -> pd.DataFrame:
        """One row per score, in any order."""
        rows = [
            {
                "id": i,
                "model": model,
                "class": name,
                "score": self.scores[i, m, k],
                "label": None if self.labels[i] < 0 else self.classes[self.labels[i]],
                "group_site": self.sites[i],
            }
            for i in range(len(self.labels))
            for m, model in enumerate(self.models)
            for k, name in enumerate(self.classes)
            if not np.isnan(self.scores[i, m, k])
        ]
        frame = pd.DataFrame(rows).sample(frac=1.0, random_state=int(rng.integers(1e9)))
        return frame[rng.permutation(list(frame.columns)).tolist()]

    def make_objects(self, rng: np.random.Generator) -> list[dict[str, Any]]:
        """A line per row, with an object of class scores per model, keys in any order."""
        lines = []
        for i in rng.permutation(len(self.labels)).tolist():
            line: dict[str, Any] = {"id": i, "group_site": str(self.sites[i])}
            if self.labels[i] >= 0:
                line["label"] = self.classes[self.labels[i]]
            for m in rng.permutation(len(self.models)).tolist():
                if not np.isnan(self.scores[i, m]).any():
                    classes = rng.permutation(len(self.classes)).tolist()
                    line[self.models[m]] = {self.classes[k]: self.scores[i, m, k] for k in classes}
            keys = rng.permutation(list(line)).tolist()
            lines.append({key: line[key] for key in keys})
        return lines


Reader = Callable[[Problem, np.random.Generator, Path], ScoreSet]


def read_as(kind: str, long: bool = False) -> Reader:
    def read(problem: Problem, rng: np.random.Generator, folder: Path) -> ScoreSet:
        columns = list_columns(problem.make_long(rng) if long else problem.make_wide(rng))
        if kind.startswith("."):
            return ScoreSet.read(write_table(columns, folder / f"a{kind}"), **problem.options)
        if kind == "dataset":
            return ScoreSet.from_huggingface(Dataset(columns), label="label", **problem.options)
        return ScoreSet.from_frame(make_frame(columns, kind), **problem.options)

    return read


def read_json_lines(problem: Problem, rng: np.random.Generator, folder: Path) -> ScoreSet:
    lines = [json.dumps(line) for line in problem.make_objects(rng)]
    (folder / "a.jsonl").write_text("\n".join(lines))
    return ScoreSet.read(folder / "a.jsonl", **problem.options)


def read_npz(problem: Problem, rng: np.random.Generator, folder: Path) -> ScoreSet:
    frame = problem.make_wide(rng).reset_index(drop=True)
    ScoreSet.from_frame(frame, **problem.options).save(folder / "a.npz")
    return ScoreSet.read(folder / "a.npz")


def read_dict_of_frames(problem: Problem, rng: np.random.Generator, folder: Path) -> ScoreSet:
    rows = rng.permutation(len(problem.labels))
    scores = {}
    for m in rng.permutation(len(problem.models)).tolist():
        frame = pd.DataFrame(problem.scores[rows, m], columns=list(problem.classes))
        scores[problem.models[m]] = frame[rng.permutation(list(problem.classes)).tolist()]
    labels = [None if y < 0 else problem.classes[y] for y in problem.labels[rows]]
    groups = {"site": problem.sites[rows]}
    return ScoreSet.from_arrays(scores, labels, ids=rows, groups=groups, **problem.options)


READERS: dict[str, Reader] = {
    **{kind: read_as(kind) for kind in (".csv", ".parquet", ".xlsx", "dataset")},
    **{f"{kind} {'long' if long else 'wide'}": read_as(kind, long)
       for kind in ("pandas", "polars", "pyarrow") for long in (False, True)},
    ".csv long": read_as(".csv", long=True),
    "objects in lines": read_json_lines,
    ".npz": read_npz,
    "dict of frames": read_dict_of_frames,
}  # fmt: skip


def compute_numbers(data: ScoreSet) -> dict[tuple[str, str], float]:
    """Every metric that the set has, on its labeled rows."""
    known = data.take(data.labeled)
    mass = one_hot_mass(known.labels, data.n_classes)
    metrics = [get_metric(name) for name in metric_names(data.n_classes)]
    return {
        (model, metric.name): value
        for metric in metrics
        if data.ordered or not metric.needs_order(data.n_classes)
        for model, value in zip(data.models, metric(known.scores, mass)[0], strict=True)
    }


@pytest.mark.parametrize("reader", READERS)
@many
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(sorted(CLASSES)))
def test_shuffling_changes_nothing(reader: str, seed: int, kind: str) -> None:
    problem = Problem.draw(seed, kind)
    with TemporaryDirectory() as folder:
        one, two = (
            READERS[reader](problem, np.random.default_rng(draw), Path(folder)) for draw in (1, 2)
        )
    assert one.classes == two.classes
    assert (one.ordered, one.positive) == (two.ordered, two.positive)
    assert one.ordered == (kind not in ("other pair", "grades"))
    assert set(map(str, one.classes)) == set(problem.classes)
    for data in (one, two):
        assert data.ids is not None
        rows = data.ids.astype(int)
        models = [problem.models.index(name) for name in data.models]
        classes = [problem.classes.index(str(name)) for name in data.classes]
        expected = problem.scores[rows][:, models][:, :, classes]
        np.testing.assert_allclose(data.scores, expected, rtol=1e-12)
        found = [-1 if y is None else problem.classes.index(str(y)) for y in data.label_values]
        assert found == problem.labels[rows].tolist()
        assert data.groups["site"].tolist() == problem.sites[rows].tolist()
    assert compute_numbers(one) == pytest.approx(compute_numbers(two), abs=1e-9, nan_ok=True)


SPOKEN: dict[str, tuple[list[Any], list[Any]]] = {
    "known pair": (["yes", "no"], ["yes", "no"]),
    "other pair": (["up", "down"], ["up", "down"]),
    "two systems": (["B", "A"], ["B", "A"]),
    "a tie": (["win", "tie", "loss"], ["win", "tie", "loss"]),
    "numbers and text": ([1, 0], ["1", "0.0"]),
    "truth in two spellings": (["True", "FALSE"], [1, 0]),
    "colors": (["red", "green", "blue"], ["red", "green", "blue"]),
}


@pytest.mark.parametrize("labeled", [True, False])
@pytest.mark.parametrize("kind", SPOKEN)
def test_shuffling_changes_nothing_about_judges(kind: str, labeled: bool) -> None:
    first, second = SPOKEN[kind]
    rng = np.random.default_rng(5)
    said = rng.integers(0, len(first), (30, 2))
    columns: dict[str, Any] = {
        "ann": [first[k] for k in said[:, 0]],
        "bob": [second[k] for k in said[:, 1]],
        "id": list(range(30)),
    }
    if labeled:
        columns["label"] = [first[k] if i < 12 else None for i, k in enumerate(said[:, 0])]
    frame = pd.DataFrame({name: pd.Series(of, dtype=object) for name, of in columns.items()})
    rows = [
        {"id": i, "judge": judge, "answer": columns[judge][i]}
        | ({"label": columns["label"][i]} if labeled else {})
        for i in range(30)
        for judge in ("ann", "bob")
    ]
    long = pd.DataFrame({key: pd.Series([r[key] for r in rows], dtype=object) for key in rows[0]})
    found = set()
    for seed in range(4):
        draw = np.random.default_rng(seed)
        for table in (frame, long):
            order = draw.permutation(list(table.columns)).tolist()
            shuffled = table[order].iloc[draw.permutation(len(table))].reset_index(drop=True)
            named = {"answers": ["answer" if table is long else "ann"]}
            if table is frame:
                named = {"answers": draw.permutation(["ann", "bob"]).tolist()}
            labels = None if labeled else False
            data = ScoreSet.from_frame(shuffled, labels, id="id", **named)
            found.add((data.classes, tuple(map(type, data.classes)), data.ordered, data.positive))
            by_id = np.argsort(data.ids.astype(int)) if data.ids is not None else np.arange(30)
            at = {name: m for m, name in enumerate(data.models)}
            scores = data.scores[by_id][:, [at["ann"], at["bob"]]]
            found.add((scores.tobytes(), data.labels[by_id].tobytes()))
    assert len(found) == 2


@pytest.mark.parametrize("kind", sorted(CLASSES))
def test_shuffled_columns_of_streamed_files_change_nothing(kind: str, tmp_path: Path) -> None:
    problem = Problem.draw(11, kind)
    found = []
    for seed in (1, 2, 3):
        path = tmp_path / f"{seed}.parquet"
        table = problem.make_wide(np.random.default_rng(seed)).sort_values("id")
        table.drop(columns="id").to_parquet(path, index=False)
        metrics = ["accuracy", *(["f1"] if problem.options.get("positive") else [])]
        result = ssme.evaluate(
            path,
            engine="stream",
            method="ensemble",
            metrics=metrics,
            by=[],
            n_draws=20,
            workers=1,
            **problem.options,
        )
        rows = {(row["model"], row["metric"]): row["estimate"] for row in result.rows()}
        found.append((result.data.classes, result.data.ordered, rows))
    assert found[0][:2] == found[1][:2] == found[2][:2]
    assert found[0][2] == pytest.approx(found[1][2], abs=1e-9)
    assert found[0][2] == pytest.approx(found[2][2], abs=1e-9)

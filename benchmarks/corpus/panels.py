"""Classifiers trained on every table of the corpus, and panels of them by pattern.

    python -m benchmarks.corpus --packages packages

trains some 36 classifiers on each table, twelve kinds with all of the training rows, a third and a
tenth of them, and keeps their scores of the other rows in ``.benchmarks-cache/corpus``. Panels are
chosen from these scores when they are read: which classifiers belong to one follows from its name.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.auto.extra_sets import list_kinds, make_matrices, train_classifier
from benchmarks.corpus.sources import Table, find_part, read_tables
from benchmarks.experiment import CACHE
from ssme.data.scoreset import ScoreSet

FOLDER = CACHE / "corpus"
TRAINED, TRAINED_SHARE, EXPORTED = 900, 0.35, 3000
SIZES = {"": 1, "_third": 3, "_tenth": 10}
"""What training rows are divided by."""
LEAST_TRAINED = 40

GROUPS: dict[str, tuple[str, ...]] = {
    "linear": ("logistic", "logistic_shrunken"),
    "bayes": ("naive_bayes",),
    "trees": ("tree", "tree_shallow", "forest", "boosting", "adaboost"),
    "neighbors": ("neighbors_5", "neighbors_30"),
    "networks": ("network_overfitted",),
    "kernels": ("support_vectors",),
}
"""Kinds of classifiers (`benchmarks.auto.extra_sets`) by family."""

Scores = NDArray[np.float64]


def train_all(table: Table) -> dict[str, NDArray[Any]]:
    """Scores (n, M, K) of every classifier on the rows that none was trained on."""
    rng = np.random.default_rng(crc32(table.name.encode()))
    classes, y = np.unique(table.y.to_numpy(), return_inverse=True)
    order = rng.permutation(y.size)
    n_train = min(TRAINED, int(TRAINED_SHARE * y.size))
    rows = order[: n_train + EXPORTED]
    x, _ = make_matrices(table.x.iloc[rows].reset_index(drop=True), np.arange(n_train))
    x = np.asarray(x, dtype=np.float64)
    every, y, found = list_kinds(), y[rows], {}
    for kind in (kind for group in GROUPS.values() for kind in group):
        for size, divisor in SIZES.items():
            taught = replace(every[kind], rows=max(n_train // divisor, LEAST_TRAINED))
            try:
                model, columns = train_classifier(taught, x[:n_train], y[:n_train], rng)
            except ValueError:  # too few rows of a class for this kind
                continue
            scores = np.zeros((y.size - n_train, classes.size), dtype=np.float32)
            scores[:, model.classes_] = model.predict_proba(x[n_train:][:, columns])
            found[kind + size] = scores
    return {
        "scores": np.stack(list(found.values()), axis=1),
        "y": y[n_train:],
        "model_names": np.array(list(found)),
        "rare": np.array(table.rare),
    }


def build(packages: Path, parts: tuple[str, ...], folder: Path = FOLDER) -> None:
    """Train on every table that is not in the folder yet."""
    warnings.filterwarnings("ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for table in read_tables(packages, parts):
        file = folder / find_part(table.family) / f"{table.family}__{table.name}.npz"
        if file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        made = train_all(table)
        begun = file.with_suffix(".part.npz")
        np.savez_compressed(begun, **made)  # type: ignore[arg-type]
        begun.replace(file)
        right = (made["scores"].argmax(axis=2) == made["y"][:, None]).mean(axis=0)
        print(file.stem, made["scores"].shape, "accuracy", np.quantile(right, [0, 0.5, 1]).round(3))


# -------------------------------------------------------------------------------------------------
# Panels


@dataclass(frozen=True, eq=False)
class Trained:
    """The classifiers of a table, with their quality (M,): the mean log score of the true class."""

    scores: Scores
    y: NDArray[np.int64]
    names: tuple[str, ...]
    quality: Scores

    def find(self, kinds: tuple[str, ...]) -> NDArray[np.int64]:
        """Places of the classifiers of some kinds, of whatever training size."""
        wanted = {kind + size for kind in kinds for size in SIZES}
        return np.array([j for j, name in enumerate(self.names) if name in wanted])

    def draw_mix(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Classifiers of different kinds, of random training size."""
        kinds = rng.permutation([kind for group in GROUPS.values() for kind in group])
        every = [self.find((kind,)) for kind in kinds]
        return np.array([rng.choice(some) for some in every if some.size][:size])


Choose = Callable[[Trained, np.random.Generator], NDArray[np.int64]]
Alter = Callable[[Scores, np.random.Generator], Scores]


def draw_mix(size: int) -> Choose:
    return lambda trained, rng: trained.draw_mix(size, rng)


def draw_strong(trained: Trained, rng: np.random.Generator) -> NDArray[np.int64]:
    """The most accurate classifier with three of the weakest third."""
    right = (trained.scores.argmax(axis=2) == trained.y[:, None]).mean(axis=0)
    order = np.argsort(right)
    return np.append(rng.choice(order[: len(order) // 3], 3, replace=False), order[-1])


def draw_family(trained: Trained, rng: np.random.Generator) -> NDArray[np.int64]:
    """All classifiers of one family, six at most."""
    some = trained.find(GROUPS[str(rng.choice(["linear", "trees", "neighbors"]))])
    return rng.permutation(some)[:6]


def draw_half(good: bool) -> Choose:
    """Six of the better, or of the worse, half of the classifiers."""

    def choose(trained: Trained, rng: np.random.Generator) -> NDArray[np.int64]:
        order = np.argsort(trained.quality)
        half = order[len(order) // 2 :] if good else order[: len(order) // 2]
        return rng.choice(half, min(6, half.size), replace=False)

    return choose


def draw_all(trained: Trained, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.permutation(len(trained.names))


def keep(scores: Scores, rng: np.random.Generator) -> Scores:
    return scores


def raise_to(power: float) -> Alter:
    return lambda scores, rng: scores**power


def answer(scores: Scores, rng: np.random.Generator) -> Scores:
    """Answers of 0 or 1."""
    return (scores == scores.max(axis=2, keepdims=True)).astype(np.float64)


def copy_first(scores: Scores, rng: np.random.Generator) -> Scores:
    """Three near-copies of the first in the places of others."""
    out = scores.copy()
    out[:, 1:4] = scores[:, :1] * np.exp(rng.normal(0.0, 0.05, out[:, 1:4].shape))
    return out


PLAIN: dict[str, tuple[Choose, Alter]] = {
    "mix": (draw_mix(7), keep),
    "strong among weak": (draw_strong, keep),
    "one family": (draw_family, keep),
    "near-copies": (draw_mix(6), copy_first),
    "two": (draw_mix(2), keep),
    "three": (draw_mix(3), keep),
    "many": (draw_all, keep),
    "answers": (draw_mix(7), answer),
    "flattened": (draw_mix(7), raise_to(0.4)),
    "sharpened": (draw_mix(7), raise_to(2.5)),
}
RARE: dict[str, tuple[Choose, Alter]] = {
    "rare, good": (draw_half(good=True), keep),
    "rare, weak": (draw_half(good=False), keep),
    "rare, mix": (draw_mix(5), keep),
}
"""How classifiers are chosen and altered, by pattern: of most tables, and of rare classes."""


def list_panels(part: str, folder: Path = FOLDER) -> list[str]:
    """Names of the panels of a part, ``family__table/pattern``, those of one pattern together."""
    files = sorted((folder / part).glob("*__*.npz"))
    files = [file for file in files if not file.name.endswith(".part.npz")]
    rare = {file.stem: bool(np.load(file)["rare"]) for file in files}
    return [
        f"{part}/{name}/{pattern}"
        for patterns, wanted in ((PLAIN, False), (RARE, True))
        for pattern in patterns
        for name in rare
        if rare[name] == wanted
    ]


@lru_cache(maxsize=4)
def _load_trained(file: Path) -> Trained:
    with np.load(file) as stored:
        scores, y = stored["scores"].astype(np.float64), stored["y"]
        names = tuple(map(str, stored["model_names"]))
    true = np.take_along_axis(scores, y[:, None, None], axis=2)[:, :, 0]
    return Trained(scores, y, names, np.log(np.maximum(true, 1e-3)).mean(axis=0))


def load_panel(name: str) -> ScoreSet:
    """The classifiers of a panel with the true class of every row."""
    part, table, pattern = name.split("/")
    choose, alter = (PLAIN | RARE)[pattern]
    rng = np.random.default_rng(crc32(name.encode()))
    trained = _load_trained(FOLDER / part / f"{table}.npz")
    chosen = choose(trained, rng)
    scores = alter(np.maximum(trained.scores[:, chosen], 1e-6), rng)
    scores = scores / scores.sum(axis=2, keepdims=True)
    models = [trained.names[j] for j in chosen]
    seen = ScoreSet.from_arrays({m: scores[:, j] for j, m in enumerate(models)}, trained.y)
    return seen

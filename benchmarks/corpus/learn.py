"""The prior of the sharpness of `auto`, fitted to the part "fit" and to the development sets.

    python -m benchmarks.corpus.learn

For every panel, and for random subsets of the classifiers of every development set: the log b of
greatest likelihood when all labels are known, and what `auto` sees without them. ALPHA, BETA, GAMMA
of its center and the three coefficients of its scale (`PriorConstants`) have the greatest
likelihood together, under the Student t of the prior, with weak normal priors on the latter.
Panels whose scores were altered are left out. ``benchmarks/results/corpus_prior.csv`` has the
coefficients, and the mean log density of log b in every part, before and after.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS, find_best_log_b
from benchmarks.corpus.panels import list_panels, load_panel
from benchmarks.corpus.study import SHARED
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import write_tables
from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.method import situate
from ssme.methods.auto.pool import clip_scores, find_error_for_prior, find_present, log_pool
from ssme.metrics.base import FloatArray

OF = Constants()
ALTERED = ("answers", "flattened", "sharpened")
ROWS, SUBSETS = 2000, 12
NAMES = ("alpha", "beta", "gamma", "scale", "scale_few", "scale_rho")
SPREAD = 2.0
"""Standard deviation of the prior of the scale's slopes."""


def look(data: ScoreSet, part: str) -> dict[str, object]:
    """What `auto` sees of a panel without labels, and the best log b."""
    rng = np.random.default_rng(0)
    some = data.take(rng.choice(data.n_rows, min(ROWS, data.n_rows), replace=False))
    situation = situate(some.replace(labels=np.full(some.n_rows, -1)), OF, rng)
    summary, prior = situation.summary, OF.prior
    q = clip_scores(some.scores, OF.pool.clip)
    log_pi = log_pool(q, find_present(some.scores), summary.standing, summary.standing)
    rho = situation.correlation
    rho = rho if np.isfinite(rho) else OF.prior.usual_rho
    error = find_error_for_prior(summary, rho, prior)
    return {
        "part": part,
        "few": 1.0 / summary.n_effective,
        "rho": min(rho, prior.correlated[1]),
        "stated": np.log(error / (error + prior.knee)),
        "log_b": find_best_log_b(log_pi, np.log(q.mean(axis=(0, 1))), some.labels),
    }


def look_at_all() -> pd.DataFrame:
    """A line per panel of the parts for fitting and choosing, and per subset of a shared set."""
    rows = [
        look(load_panel(name), part)
        for part in ("fit", "choose")
        for name in list_panels(part)
        if name.split("/")[2] not in ALTERED
    ]
    for name in SETS:
        data, rng = load_dataset(name), np.random.default_rng(1)
        for i in range(SUBSETS):
            size = data.n_models if i % 2 == 0 else int(rng.integers(2, data.n_models + 1))
            chosen = rng.choice(data.n_models, size, replace=False)
            kept = data.take(rng.choice(data.n_rows, min(ROWS, data.n_rows), replace=False))
            rows.append(look(kept.select([data.models[j] for j in chosen]), SHARED))
    return pd.DataFrame(rows)


def compute_density(frame: pd.DataFrame, found: FloatArray) -> FloatArray:
    """Log density of each log b under the prior with the coefficients ``found`` (6,)."""
    from scipy.stats import t

    few, rho = frame["few"], frame["rho"]
    center = found[0] + found[1] * (1.0 - few) + found[2] * frame["stated"]
    log_scale = found[3] + found[4] * few + found[5] * rho
    out: FloatArray = t.logpdf((frame["log_b"] - center) / np.exp(log_scale), OF.model.nu)
    return out - log_scale.to_numpy()


def fit(frame: pd.DataFrame, start: FloatArray) -> FloatArray:
    from scipy.optimize import minimize

    def loss(found: FloatArray) -> float:
        return float(0.5 * ((found[4:] / SPREAD) ** 2).sum() - compute_density(frame, found).sum())

    return np.asarray(minimize(loss, start, method="BFGS").x)


def main() -> None:
    frame = look_at_all()
    today = np.array([*OF.prior.coefficients, *OF.prior.scale])
    found = fit(frame[frame["part"] != "choose"], today)
    rows = [
        {
            "prior": name,
            **dict(zip(NAMES, values, strict=True)),
            **pd.Series(compute_density(frame, values)).groupby(frame["part"]).mean(),
        }
        for name, values in (("in use", today), ("fitted", found))
    ]
    write_tables({"corpus_prior": pd.DataFrame(rows)}, digits=4)
    print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()

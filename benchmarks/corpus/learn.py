"""The priors of the sharpness of `auto`, fitted to the part "fit" and to the development sets.

    python -m benchmarks.corpus.learn

For every panel, and for random subsets of the classifiers of every development set: the log b of
greatest likelihood when all labels are known, and what `auto` sees without them. ALPHA, BETA, GAMMA
of its center and the three coefficients of its scale (`PriorConstants`) have the greatest
likelihood together, under the Student t of the prior, with weak normal priors on the latter.
Panels whose scores were altered are left out, but not where it is fitted by how much agreement
misses the best log b about equal class shares (`AgreementConstants.line`, and the scale of what is
left, `RegimesConstants.distorted_scale`). ``benchmarks/results/corpus_prior.csv`` has the
coefficients, and the mean log density of log b in every part, before and after.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import logit

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
LINE = ("constant", "few", "rho", "apart", "log_scale")
SPREAD = 2.0
"""Standard deviation of the prior of the slopes, but for those of the center."""


def look(data: ScoreSet, part: str) -> dict[str, object]:
    """What `auto` sees of a panel without labels, and the best log b."""
    rng = np.random.default_rng(0)
    some = data.take(rng.choice(data.n_rows, min(ROWS, data.n_rows), replace=False))
    situation = situate(some.replace(labels=np.full(some.n_rows, -1)), OF, rng)
    summary, prior = situation.summary, OF.prior
    q = clip_scores(some.scores, OF.pool.clip)
    log_pi = log_pool(q, find_present(some.scores), summary.standing, summary.standing)
    error = find_error_for_prior(summary, situation.rho, prior)
    agreed = situation.agreed
    implied = np.nan if agreed is None else agreed - situation.agreement_miss
    return {
        "part": part,
        "few": 1.0 / summary.n_effective,
        "rho": situation.rho,
        "stated": np.log(error / (error + prior.knee)),
        "log_b": find_best_log_b(log_pi, np.log(q.mean(axis=(0, 1))), some.labels),
        "apart": logit(summary.mean_disagreement),
        "missed": find_best_log_b(log_pi, situation.equal_shares, some.labels) - implied,
    }


def look_at_all() -> pd.DataFrame:
    """A line per panel of the parts for fitting and choosing, and per subset of a shared set."""
    rows = [
        {**look(load_panel(name), part), "altered": name.split("/")[2] in ALTERED}
        for part in ("fit", "choose")
        for name in list_panels(part)
    ]
    for name in SETS:
        data, rng = load_dataset(name), np.random.default_rng(1)
        for i in range(SUBSETS):
            size = data.n_models if i % 2 == 0 else int(rng.integers(2, data.n_models + 1))
            chosen = rng.choice(data.n_models, size, replace=False)
            kept = data.take(rng.choice(data.n_rows, min(ROWS, data.n_rows), replace=False))
            panel = kept.select([data.models[j] for j in chosen])
            rows.append({**look(panel, SHARED), "altered": False})
    return pd.DataFrame(rows)


def compute_density(frame: pd.DataFrame, found: FloatArray) -> FloatArray:
    """Log density of each log b under the prior with the coefficients ``found`` (6,)."""
    few, rho = frame["few"], frame["rho"].clip(upper=OF.prior.correlated[1])
    center = found[0] + found[1] * (1.0 - few) + found[2] * frame["stated"]
    return compute_t(frame["log_b"] - center, found[3] + found[4] * few + found[5] * rho)


def compute_agreed_density(frame: pd.DataFrame, found: FloatArray) -> FloatArray:
    """The same of what agreement misses, with the line and the log scale ``found`` (5,)."""
    slopes = frame[["few", "rho", "apart"]] @ found[1:4]
    return compute_t(frame["missed"] - found[0] - slopes, found[4])


def compute_t(off: pd.Series, log_scale: pd.Series | float) -> FloatArray:
    from scipy.stats import t

    out: FloatArray = np.asarray(t.logpdf(off / np.exp(log_scale), OF.model.nu) - log_scale)
    return out


Density = Callable[[pd.DataFrame, FloatArray], FloatArray]


def fit(frame: pd.DataFrame, start: FloatArray, density: Density, slopes: slice) -> FloatArray:
    """The coefficients of greatest likelihood, with normal priors on ``slopes`` of them."""
    from scipy.optimize import minimize

    def loss(found: FloatArray) -> float:
        return float(0.5 * ((found[slopes] / SPREAD) ** 2).sum() - density(frame, found).sum())

    return np.asarray(minimize(loss, start, method="BFGS").x)


def main() -> None:
    frame = look_at_all()
    today = np.array([*OF.prior.coefficients, *OF.prior.scale])
    line = np.array([*OF.agreement.line, np.log(OF.regimes.distorted_scale)])
    plain, known = frame[~frame["altered"]], frame[frame["missed"].notna()]
    rows = []
    for of, names, some, start, density, slopes in (
        ("scores", NAMES, plain, today, compute_density, slice(4, None)),
        ("agreement", LINE, known, line, compute_agreed_density, slice(1, 4)),
    ):
        found = fit(some[some["part"] != "choose"], start, density, slopes)
        for name, values in (("in use", start), ("fitted", found)):
            mean = pd.Series(density(some, values)).groupby(some["part"].to_numpy()).mean()
            rows += [
                {"of": of, "prior": name, "number": number, "value": value}
                for number, value in [*zip(names, values, strict=True), *mean.items()]
            ]
    write_tables({"corpus_prior": pd.DataFrame(rows)}, digits=4)
    print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()

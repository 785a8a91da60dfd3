"""The preset ``public_code`` against a slow, literal transcription of the public loop.

The loop in words, for one classifier with one log-odds s_i a row:

1.  h is a quarter of the normal-reference bandwidth, (4/3)^(1/5) min(sigma, IQR / 1.349) n^(-1/5).
2.  Every unlabeled row gets a class drawn from its score. A labeled row has its label.
3.  Twenty times:
    a.  Priors. Each unlabeled row is assigned one class drawn from its responsibilities, each
        labeled row its true class; pi_k is the share of rows assigned to class k.
    b.  Densities. f_k(s) is the average of N(s; s_i, h^2) over rows, weighted by v_i r_ik. In the
        first step v_i = 1 for all rows; from the second step on v_i = 10 for labeled rows.
    c.  Responsibilities of *every* row, labeled ones too:
        r_ik = pi_k f_k(s_i) / sum_l pi_l f_l(s_i).
4.  Labeled rows get their label back, and metrics are computed over label draws.

In many dimensions with small bandwidths none of this can be seen, because every row keeps the class
it started with. In one dimension it decides the estimates.
"""

import math
import statistics

import numpy as np
import pytest

from ssme.data.scoreset import ScoreSet
from ssme.methods.ssme import SsmeMMethod

STEPS = 20


def class_at(u, shares):
    """The class in whose part of [0, 1) the number ``u`` lies."""
    upper = 0.0
    for k, share in enumerate(shares[:-1]):
        upper += share
        if u < upper:
            return k
    return len(shares) - 1


def quarter_of_normal_reference(x):
    low, high = np.percentile(x, [25, 75])
    spread = min(statistics.stdev(x), (high - low) / 1.349)
    return (4 / 3) ** 0.2 * spread * len(x) ** -0.2 / 4


def public_loop(scores, labels, rng, steps=STEPS):
    """P(y | s) (n, K) of one classifier's probabilities ``scores`` (n, 2)."""
    rows, classes = range(len(labels)), range(2)
    x = [math.log(p[0] / p[1]) for p in scores]
    h = quarter_of_normal_reference(x)
    kernel = [[math.exp(-((a - b) ** 2) / (2 * h * h)) for b in x] for a in x]
    drawn = [class_at(u, p) for u, p in zip(rng.random(len(x)), scores, strict=True)]
    r = [one_hot(labels[i] if labels[i] >= 0 else drawn[i]) for i in rows]
    for step in range(steps):
        uniform = rng.random(len(x))
        assigned = [labels[i] if labels[i] >= 0 else class_at(uniform[i], r[i]) for i in rows]
        prior = [assigned.count(k) / len(x) for k in classes]
        v = [10.0 if step > 0 and labels[i] >= 0 else 1.0 for i in rows]
        total = [sum(v[i] * r[i][k] for i in rows) for k in classes]
        density = [
            [sum(v[i] * r[i][k] * kernel[j][i] for i in rows) / total[k] for k in classes]
            for j in rows
        ]
        joint = [[prior[k] * density[j][k] for k in classes] for j in rows]
        r = [[joint[j][k] / sum(joint[j]) for k in classes] for j in rows]
    return np.array([one_hot(labels[i]) if labels[i] >= 0 else r[i] for i in rows])


def one_hot(k):
    return [1.0 - k, float(k)]


def overconfident_set(seed, n=90, n_labeled=12):
    """Two classifiers that are far too sure: EM has to move away from where it starts."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    logit = 4.0 * (1.2 * y[:, None] - 0.6 + rng.normal(size=(n, 2)))
    p = 1.0 / (1.0 + np.exp(-logit))
    labels = np.where(np.arange(n) < n_labeled, y, -1)
    labels[:2] = 0, 1
    return ScoreSet(np.stack([1.0 - p, p], axis=2), labels, ("a", "b"), (0, 1))


def seeds_of_models(seed, n_models):
    """The seeds that SSME-M hands to its classifiers."""
    fit_seed, _ = np.random.default_rng(seed).bit_generator.seed_seq.spawn(2)
    return fit_seed.spawn(n_models)


@pytest.mark.parametrize("seed", range(3))
def test_ssme_m_is_the_public_loop_row_by_row(seed) -> None:
    data = overconfident_set(seed)
    ours = SsmeMMethod(preset="public_code").fit(data, np.random.default_rng(seed)).posteriors
    labels = data.labels.tolist()
    for j, own_seed in enumerate(seeds_of_models(seed, 2)):
        literal = public_loop(data.scores[:, j].tolist(), labels, np.random.default_rng(own_seed))
        np.testing.assert_allclose(ours[j], literal, atol=1e-9)


@pytest.mark.parametrize(
    "change",
    [{"weighted_from": 1}, {"labeled_weight": 1.0}, {"clamp": True}, {"drawn_priors": False}],
)
def test_the_oracle_sees_every_rule_of_the_loop(change, monkeypatch) -> None:
    """A loop that differs in one rule only is told apart by far more than rounding."""
    from dataclasses import replace

    from ssme.mixture.model import PRESETS

    monkeypatch.setitem(PRESETS, "public_code", replace(PRESETS["public_code"], **change))
    data = overconfident_set(0)
    ours = SsmeMMethod(preset="public_code").fit(data, np.random.default_rng(0)).posteriors
    literal = public_loop(
        data.scores[:, 0].tolist(),
        data.labels.tolist(),
        np.random.default_rng(seeds_of_models(0, 2)[0]),
    )
    assert np.abs(ours[0] - literal).max() > 1e-3

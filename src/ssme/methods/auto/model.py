"""The recalibration model: P(y | scores) as one penalized logistic model of the pool.

    z_ik = log p_k + b l_ik  +  a_k  +  sum_j t_j (q_ijk - pi_ik)                (mode)
         + sum_j c_j (log q_ijk - log pi_ik) + sum_j v_j [k = argmax q_ij]
         + r l_ik (h_i - 1/2) + s_k l_ik                                         (draws)
    W_ik = exp(z_ik) / sum_l exp(z_il),        h_i = pool confidence rescaled to 0..1
    l_ik = log pi_ik - log p_k,                p_k the mean score of class k

b sharpens or flattens the pool about the class shares p that the scores state, so that a rare
class stays rare; a shifts classes, the tilts t are each classifier's own shrunken
residual correction: the score equation of t_j is
``sum_labeled sum_k ([y=k] - W_k)(q_jk - pi_k) = t_j / sd_t^2``. The families c, v, r, s are the
ways in which the mode may be wrong (weights of classifiers, votes, shape of the calibration curve,
class-wise slopes): the mode leaves them at zero, the draws do not.

Labels may over-represent rare classes (people label until every class occurs, or as many cases as
controls). Labeled rows therefore have intercepts of their own,  d_k ~ N(0, u_k^2),

    u_k = log(1 + 1/(n p_k)) + max(0, |log(p'_k / p_k)| - 2 se_k),

p_k the pool's share of class k in all rows and p'_k in the labeled ones: "one label of class k more
than expected", and more where the labeled rows are unlike the rest. They are fitted, and left out
for all rows: only what is compared with the labels (`correction`) has them, see `as_labeled`.

Every family is Gaussian, ``theta_F ~ N(0, (rho_F sd_F)^2)``, log b around its label-free center,
with ``rho_F^2 ~ 4/chi2_4``: a multivariate Student t_4, so that the labels can widen a family that
they contradict. The mode is found under this prior, the draws (`sampler`) are of its posterior. All
scales: `ModelConstants`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.methods.auto.constants import ModelConstants
from ssme.methods.auto.pool import log_softmax
from ssme.methods.auto.prior import TemperaturePrior
from ssme.metrics.base import FloatArray

__all__ = [
    "Design",
    "Family",
    "LabelEvidence",
    "as_labeled",
    "curvature",
    "find_mode",
    "posterior_draws",
]


@dataclass(frozen=True)
class Family:
    """A block of coefficients with one prior scale."""

    name: str
    columns: slice
    sd: float
    in_mode: bool


@dataclass(frozen=True, eq=False)
class Design:
    """Log pool (n, K), clipped scores (n, M, K) and log shares of the classes (K,)."""

    log_pi: FloatArray
    q: FloatArray
    log_share: FloatArray
    constants: ModelConstants

    @property
    def families(self) -> tuple[Family, ...]:
        _, n_models, n_classes = self.q.shape
        of = self.constants
        blocks = (
            ("a", n_classes, of.sd_a + of.sd_a_few / n_models**2),
            ("t", n_models, of.sd_t / np.sqrt(n_models)),
            ("c", n_models, of.sd_c),
            ("v", n_models, of.sd_v),
            ("r", 1, of.sd_r),
            ("s", n_classes, of.sd_s),
        )
        ends = np.cumsum([size for _, size, _ in blocks])
        return tuple(
            Family(name, slice(int(end) - size, int(end)), float(sd), name in of.mode_families)
            for end, (name, size, sd) in zip(ends, blocks, strict=True)
        )

    def features(self, rows: NDArray[np.int64] | slice) -> FloatArray:
        """(r, K, P): one line per row and class, one column per coefficient but log b."""
        log_pi, q, ratio = self.log_pi[rows], self.q[rows], self.ratio(rows)
        n, n_models, n_classes = q.shape
        pi = np.exp(log_pi)
        by_class = q.transpose(0, 2, 1)
        out: FloatArray = np.zeros((n, n_classes, 2 * n_classes + 3 * n_models + 1))
        blocks = {family.name: out[:, :, family.columns] for family in self.families}
        blocks["a"][:] = np.eye(n_classes)
        np.subtract(by_class, pi[:, :, None], out=blocks["t"])
        np.subtract(np.log(by_class), log_pi[:, :, None], out=blocks["c"])
        blocks["v"][:] = q.argmax(axis=2)[:, None, :] == np.arange(n_classes)[None, :, None]
        certainty = (pi.max(axis=1) * n_classes - 1.0) / (n_classes - 1.0)
        blocks["r"][:, :, 0] = ratio * (certainty - 0.5)[:, None]
        blocks["s"][:] = ratio[:, :, None] * np.eye(n_classes)
        return out

    def ratio(self, rows: NDArray[np.int64] | slice) -> FloatArray:
        """l (r, K): what b multiplies."""
        out: FloatArray = self.log_pi[rows] - self.log_share
        return out

    def posterior(self, mode: FloatArray, rows: slice) -> FloatArray:
        """W (r, K) at ``mode`` (1 + P,)."""
        if set(self.constants.mode_families) - {"a", "t"}:
            used = mode[None, : 1 + self.families[-1].columns.stop]
            features = self.features(rows)
            one = posterior_draws(self.ratio(rows), self.log_share, features, used)
            return one.reshape(one.shape[1:])
        a, t = (mode[1:][family.columns] for family in self.families[:2])
        z = np.exp(mode[0]) * self.ratio(rows) + a + self.log_share
        z += np.einsum("nmk,m->nk", self.q[rows], t) - t.sum() * np.exp(self.log_pi[rows])
        out: FloatArray = np.exp(log_softmax(z))
        return out


@dataclass(frozen=True, eq=False)
class LabelEvidence:
    """The labeled rows as the likelihood sees them.

    ratio : l (n, K). log_share : (K,). features : (n, K, P), those of the design, then the K label
    intercepts d, scaled to a unit prior. labels : (n,).
    """

    ratio: FloatArray
    log_share: FloatArray
    features: FloatArray
    labels: NDArray[np.int64]
    families: tuple[Family, ...]
    prior: TemperaturePrior
    constants: ModelConstants

    @classmethod
    def of(
        cls,
        design: Design,
        rows: NDArray[np.int64],
        labels: NDArray[np.int64],
        prior: TemperaturePrior,
    ) -> LabelEvidence:
        features = design.features(rows)
        n, n_classes, size = features.shape
        spread = _label_spread(np.exp(design.log_pi), rows, design.constants.chance)
        nuisance = np.broadcast_to(np.diag(spread), (n, n_classes, n_classes))
        extra = Family("d", slice(size, size + n_classes), design.constants.sd_d, True)
        both = np.concatenate([features, nuisance], axis=2)
        families = (*design.families, extra)
        seen = (design.ratio(rows), design.log_share, both, labels, families)
        return cls(*seen, prior, design.constants)

    def label_shift(self, theta: FloatArray) -> FloatArray:
        """The label intercepts d (..., K) of ``theta`` (..., 1 + P)."""
        n, n_classes, _ = self.features.shape
        if n == 0:
            return np.zeros((*theta.shape[:-1], n_classes))
        out: FloatArray = theta[..., -n_classes:] * np.diag(self.features[0, :, -n_classes:])
        return out

    @property
    def blocks(self) -> tuple[slice, ...]:
        """Places of log b and of each family among the 1 + P coefficients."""
        rest = (slice(f.columns.start + 1, f.columns.stop + 1) for f in self.families)
        return (slice(0, 1), *rest)

    @property
    def sd(self) -> FloatArray:
        """Prior scale (1 + P,) of log b and every coefficient."""
        sizes = [family.columns.stop - family.columns.start for family in self.families]
        rest = np.repeat([family.sd for family in self.families], sizes)
        return np.concatenate([[self.prior.scale], rest])

    def student(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Log prior of ``theta`` (1 + P,), and the precisions of the normal of equal slope."""
        offset, nu = (theta - self.mean) / self.sd, self.constants.nu
        value, precision = 0.0, np.empty_like(offset)
        for block in self.blocks:
            size = block.stop - block.start
            squares = float((offset[block] ** 2).sum())
            value -= (nu + size) / 2.0 * float(np.log1p(squares / nu))
            precision[block] = (nu + size) / (nu + squares)
        return value, precision / self.sd**2

    @property
    def mean(self) -> FloatArray:
        """Prior center (1 + P,)."""
        out: FloatArray = np.zeros(1 + self.features.shape[2])
        out[0] = self.prior.center
        return out

    @property
    def in_mode(self) -> NDArray[np.bool_]:
        """(1 + P,) True for log b and the coefficients that the mode fits."""
        sizes = [family.columns.stop - family.columns.start for family in self.families]
        rest = np.repeat([family.in_mode for family in self.families], sizes)
        return np.concatenate([[True], rest])

    def linear(self, theta: FloatArray) -> FloatArray:
        """Part of z (D, n K) that is linear in ``theta`` (D, 1 + P): all but log p + b l."""
        n, n_classes, size = self.features.shape
        out: FloatArray = theta[:, 1:] @ self.features.reshape(n * n_classes, size).T
        return out

    def log_likelihood(self, log_b: FloatArray, linear: FloatArray) -> FloatArray:
        """(D,) of log b (D,) and the `linear` part of z."""
        n, n_classes = self.ratio.shape
        z = np.exp(log_b)[:, None] * self.ratio.reshape(-1)
        z += linear
        z = z.reshape(len(z), n, n_classes)
        z += self.log_share
        top = _top(z)
        observed = z[:, np.arange(n), self.labels]
        z -= top[:, :, None]
        np.exp(z, out=z)
        out: FloatArray = (observed - top - np.log(z.sum(axis=2))).sum(axis=1)
        return out


def _label_spread(pi: FloatArray, rows: NDArray[np.int64], chance: float) -> FloatArray:
    """Scale (K,) of the label intercepts: one label more, and what the rows' pool tells."""
    share, n = pi.mean(axis=0), len(rows)
    if n == 0:
        return np.ones_like(share)
    off = np.abs(np.log(pi[rows].mean(axis=0) / share))
    by_chance = chance * pi.std(axis=0) / share / np.sqrt(n)
    out: FloatArray = np.log1p(1.0 / (n * share)) + np.maximum(off - by_chance, 0.0)
    return out


def find_mode(evidence: LabelEvidence) -> FloatArray:
    """The mode (1 + P,): damped Newton steps, each Student t as a normal of equal slope."""
    kept = np.flatnonzero(evidence.in_mode)
    theta = evidence.mean
    if len(evidence.labels) == 0:
        return theta
    value = _log_posterior(evidence, theta)
    tolerance = evidence.constants.newton_tolerance
    for _ in range(evidence.constants.newton_steps):
        slope, bend = _information(evidence, theta, kept)
        precision = evidence.student(theta)[1][kept]
        slope -= precision * (theta - evidence.mean)[kept]
        step = np.zeros_like(theta)
        step[kept] = np.linalg.solve(bend + np.diag(precision), slope)
        reached = _log_posterior(evidence, theta + step)
        while reached < value and np.abs(step).max() > tolerance:
            step /= 2.0
            reached = _log_posterior(evidence, theta + step)
        if reached <= value + tolerance:
            break
        theta, value = theta + step, reached
    return theta


def curvature(evidence: LabelEvidence, theta: FloatArray, power: float = 1.0) -> FloatArray:
    """Negative Hessian (1 + P, 1 + P) at ``theta``, rho = 1, the likelihood raised to ``power``."""
    everything = np.arange(theta.size)
    return power * _information(evidence, theta, everything)[1] + np.diag(1.0 / evidence.sd**2)


def _log_posterior(evidence: LabelEvidence, theta: FloatArray) -> float:
    likelihood = evidence.log_likelihood(theta[:1], evidence.linear(theta[None]))
    return float(likelihood[0]) + evidence.student(theta)[0]


def _information(
    evidence: LabelEvidence, theta: FloatArray, kept: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Slope and expected curvature of the log-likelihood over ``kept``, log b first."""
    b = np.exp(theta[0])
    z = b * evidence.ratio + evidence.features @ theta[1:] + evidence.log_share
    w = np.exp(log_softmax(z))
    jacobian = np.concatenate(
        [(b * evidence.ratio)[:, :, None], evidence.features[:, :, kept[1:] - 1]], axis=2
    )
    jacobian = jacobian - np.einsum("nk,nkp->np", w, jacobian)[:, None, :]
    slope: FloatArray = jacobian[np.arange(len(w)), evidence.labels].sum(axis=0)
    weighted = (jacobian * np.sqrt(w)[:, :, None]).reshape(-1, kept.size)
    return slope, weighted.T @ weighted


def as_labeled(soft: FloatArray, shift: FloatArray) -> FloatArray:
    """W (..., n, K) of rows that were chosen for a label: with the label intercepts (..., K)."""
    out: FloatArray = soft * np.exp(shift - shift.max(axis=-1, keepdims=True))[..., None, :]
    out /= out.sum(axis=-1, keepdims=True)
    return out


def posterior_draws(
    ratio: FloatArray, log_share: FloatArray, features: FloatArray, theta: FloatArray
) -> FloatArray:
    """W (D, r, K) of rows with ``ratio`` (r, K) and ``features`` for ``theta`` (D, 1 + P)."""
    n, n_classes, size = features.shape
    z = np.exp(theta[:, :1]) * ratio.reshape(-1)
    z += theta[:, 1:] @ features.reshape(n * n_classes, size).T
    z = z.reshape(len(theta), n, n_classes)
    z += log_share
    z -= _top(z)[:, :, None]
    np.exp(z, out=z)
    z /= z.sum(axis=2, keepdims=True)
    return z


def _top(z: FloatArray) -> FloatArray:
    """``z.max(axis=2)``, one class at a time: over a handful of classes several times faster."""
    out = z[:, :, 0].copy()
    for k in range(1, z.shape[2]):
        np.maximum(out, z[:, :, k], out=out)
    return out

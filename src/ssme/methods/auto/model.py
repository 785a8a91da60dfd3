"""The recalibration model: P(y | scores) as one penalized logistic model of the pool.

    z_ik = log p_k + b l_ik  +  a_k  +  sum_j t_j (q_ijk - pi_ik)                (mode)
         + sum_j c_j (log q_ijk - log pi_ik) + sum_j v_j [k predicted by j]
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
than expected", and more where the labeled rows are unlike the rest (`compute_label_spread`). They
are fitted with the rest, and left out of W of rows at large: only what is compared with the labels
(`correction`) has them, see `as_labeled`.

Every family is Gaussian, ``theta_F ~ N(0, (rho_F sd_F)^2)``, log b around its label-free center,
with ``rho_F^2 ~ 4/chi2_4``: a multivariate Student t_4, so that the labels can widen a family that
they contradict. `mode` finds the best coefficients under this prior and `sampler` draws from their
posterior. All scales are in `ModelConstants`.

In the code, `CoefficientDesign` holds the rows' pool and scores and makes `Features`, what the
coefficients multiply; `LabelEvidence` is the design of the labeled rows together with their labels
and the prior, which gives the likelihood; and `compute_posteriors` turns coefficients into W.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ssme.methods.auto.constants import ModelConstants
from ssme.methods.auto.pool import log_softmax
from ssme.methods.auto.prior import TemperaturePrior
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes


@dataclass(frozen=True)
class Family:
    """A block of coefficients with one prior scale ``sd``, such as the tilts t.

    ``columns`` are its places among the P coefficients that follow log b. The mode fits the family
    only where ``in_mode`` says so; the draws always do.
    """

    name: str
    columns: slice
    sd: float
    in_mode: bool


@dataclass(frozen=True, eq=False)
class Features:
    """What the coefficients multiply on r rows.

    ``dense`` (r, K, 3 M + 1) are the columns of t, c, v and r. Those of a, s and d are zero for
    every class but one, so nothing is stored of them: a multiplies one, s multiplies ``ratio``
    (r, K), which is l, and d its scale.
    """

    ratio: FloatArray
    dense: FloatArray

    def combine(self, coefficients: FloatArray) -> FloatArray:
        """The sum (D, r, K) of t, c, v and r times their columns; ``coefficients`` (D, 1 + P)."""
        n, n_classes, size = self.dense.shape
        own = coefficients[:, 1 + n_classes : 1 + n_classes + size]
        out: FloatArray = own @ self.dense.reshape(n * n_classes, size).T
        return out.reshape(len(own), n, n_classes)

    def compute_slopes(self, coefficients: FloatArray) -> FloatArray:
        """The class-wise slopes s (D, K) among ``coefficients`` (D, 1 + P)."""
        n_classes, start = self.ratio.shape[1], 1 + self.ratio.shape[1] + self.dense.shape[2]
        return coefficients[:, start : start + n_classes]

    def compute_shifts(self, coefficients: FloatArray) -> FloatArray:
        """The class shifts a (D, K) among ``coefficients`` (D, 1 + P)."""
        return coefficients[:, 1 : 1 + self.ratio.shape[1]]


@dataclass(frozen=True, eq=False)
class CoefficientDesign:
    """What the model needs to know of some rows, before any coefficient is chosen.

    ``log_pi`` (n, K) is the logarithm of the pool, ``q`` (n, M, K) are the clipped scores, and
    ``log_share`` (K,) is log p. ``n_effective`` is the effective number of classifiers, on which
    prior scales depend.
    """

    log_pi: FloatArray
    q: FloatArray
    log_share: FloatArray
    constants: ModelConstants
    n_effective: float

    @property
    def families(self) -> tuple[Family, ...]:
        """The families a, t, c, v, r and s, in the order of the coefficients."""
        _, n_models, n_classes = self.q.shape
        of, many = self.constants, self.n_effective
        blocks = (
            ("a", n_classes, of.sd_a + of.sd_a_few / many**2),
            ("t", n_models, of.sd_t / np.sqrt(many)),
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

    def make_features(self, rows: NDArray[np.int64] | slice) -> Features:
        """The `Features` of ``rows``: one column of numbers for each coefficient."""
        log_pi, q, ratio = self.log_pi[rows], self.q[rows], self.compute_ratio(rows)
        n, n_models, n_classes = q.shape
        pi = np.exp(log_pi)
        by_class = q.transpose(0, 2, 1)
        dense: FloatArray = np.empty((n, n_classes, 3 * n_models + 1))
        t, c, v, r = (dense[:, :, j * n_models : (j + 1) * n_models] for j in range(4))
        np.subtract(by_class, pi[:, :, None], out=t)
        np.subtract(np.log(by_class), log_pi[:, :, None], out=c)
        v[:] = predicted_classes(q)[:, None, :] == np.arange(n_classes)[None, :, None]
        certainty = (pi.max(axis=1) * n_classes - 1.0) / (n_classes - 1.0)
        r[:, :, 0] = ratio * (certainty - 0.5)[:, None]
        return Features(ratio, dense)

    def compute_ratio(self, rows: NDArray[np.int64] | slice) -> FloatArray:
        """l (r, K) of ``rows``: what b multiplies."""
        out: FloatArray = self.log_pi[rows] - self.log_share
        return out

    def compute_posterior(self, mode: FloatArray, rows: slice) -> FloatArray:
        """W (r, K) of ``rows`` at the coefficients ``mode`` (1 + P,).

        The usual mode has the families a and t alone, and is computed without making features.
        """
        if set(self.constants.mode_families) - {"a", "t"}:
            used = mode[None, : 1 + self.families[-1].columns.stop]
            one = compute_posteriors(self.make_features(rows), self.log_share, used)
            return one.reshape(one.shape[1:])
        a, t = (mode[1:][family.columns] for family in self.families[:2])
        z = np.exp(mode[0]) * self.compute_ratio(rows) + a + self.log_share
        z += np.einsum("nmk,m->nk", self.q[rows], t) - t.sum() * np.exp(self.log_pi[rows])
        out: FloatArray = np.exp(log_softmax(z))
        return out


@dataclass(frozen=True, eq=False)
class LabelEvidence:
    """The labeled rows as the likelihood sees them.

    ``spread`` (K,) is the scale u of the label intercepts d, which themselves have a prior of scale
    one. ``weights`` (n,) say how often each label counts; None where all count once. ``families``
    are those of the design, and d.
    """

    features: Features
    log_share: FloatArray
    spread: FloatArray
    labels: NDArray[np.int64]
    families: tuple[Family, ...]
    prior: TemperaturePrior
    constants: ModelConstants
    weights: FloatArray | None = None

    @classmethod
    def of(
        cls,
        design: CoefficientDesign,
        labels: NDArray[np.int64],
        prior: TemperaturePrior,
        spread: FloatArray,
        weights: FloatArray | None = None,
    ) -> LabelEvidence:
        """Put the ``design`` of the labeled rows, their labels and the prior together.

        ``spread`` (K,) is what `compute_label_spread` gives.
        """
        size = design.families[-1].columns.stop
        extra = Family("d", slice(size, size + spread.size), design.constants.sd_d, True)
        families = (*design.families, extra)
        seen = (design.make_features(slice(None)), design.log_share, spread, labels, families)
        return cls(*seen, prior, design.constants, weights)

    def compute_label_shift(self, theta: FloatArray) -> FloatArray:
        """The label intercepts d (..., K) of ``theta`` (..., 1 + P); zero without labels."""
        n_classes = self.spread.size
        if len(self.labels) == 0:
            return np.zeros((*theta.shape[:-1], n_classes))
        out: FloatArray = theta[..., -n_classes:] * self.spread
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

    def evaluate_student_prior(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Log prior of ``theta`` (1 + P,), up to a constant, and precisions (1 + P,).

        The precisions are those of the normal distribution that has the slope of the Student t at
        ``theta``: Newton steps use it in the place of the Student t.
        """
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
        """Prior center (1 + P,): that of log b, and zero for all other coefficients."""
        out: FloatArray = np.zeros(1 + self.families[-1].columns.stop)
        out[0] = self.prior.center
        return out

    @property
    def in_mode(self) -> NDArray[np.bool_]:
        """(1 + P,) True for log b and the coefficients that the mode fits."""
        sizes = [family.columns.stop - family.columns.start for family in self.families]
        rest = np.repeat([family.in_mode for family in self.families], sizes)
        return np.concatenate([[True], rest])

    def compute_linear_part(self, theta: FloatArray) -> FloatArray:
        """Part of z (D, n K) that is linear in ``theta`` (D, 1 + P): all but log p + b l."""
        out = self.features.combine(theta)
        out += self.features.compute_slopes(theta)[:, None, :] * self.features.ratio
        n_classes = self.spread.size
        out += (self.features.compute_shifts(theta) + theta[:, -n_classes:] * self.spread)[
            :, None, :
        ]
        return out.reshape(len(out), -1)

    def log_likelihood(self, log_b: FloatArray, linear: FloatArray) -> FloatArray:
        """Log-likelihood (D,) of the labels, from log b (D,) and the ``linear`` part of z.

        ``linear`` (D, n K) is what `compute_linear_part` gives.
        """
        n, n_classes = self.features.ratio.shape
        z = np.exp(log_b)[:, None] * self.features.ratio.reshape(-1)
        z += linear
        z = z.reshape(len(z), n, n_classes)
        z += self.log_share
        top = _find_top(z)
        observed = z[:, np.arange(n), self.labels]
        z -= top[:, :, None]
        np.exp(z, out=z)
        each = observed - top - np.log(z.sum(axis=2))
        out: FloatArray = each.sum(axis=1) if self.weights is None else each @ self.weights
        return out


def compute_label_spread(
    log_pi: FloatArray, labeled_log_pi: FloatArray, chance: float, least: float = 0.0
) -> FloatArray:
    """Scale u (K,) of the label intercepts, at least ``least``.

    ``log_pi`` (n, K) is the log pool of rows at large, ``labeled_log_pi`` that of the labeled rows.
    Their difference counts as far as it exceeds ``chance`` standard errors; where ``chance`` is
    infinite it counts for nothing.
    """
    pi, n = np.exp(log_pi), len(labeled_log_pi)
    share = pi.mean(axis=0)
    if n == 0:
        return np.ones_like(share)
    off = np.abs(np.log(np.exp(labeled_log_pi).mean(axis=0) / share))
    by_chance = chance * pi.std(axis=0) / share / np.sqrt(n) if np.isfinite(chance) else np.inf
    out: FloatArray = np.log1p(1.0 / (n * share)) + np.maximum(off - by_chance, 0.0)
    return np.maximum(out, least)


def as_labeled(soft: FloatArray, shift: FloatArray) -> FloatArray:
    """W (..., n, K) of rows that were chosen for a label: ``soft`` with the label intercepts.

    ``shift`` (..., K) are the label intercepts d.
    """
    out: FloatArray = soft * np.exp(shift - shift.max(axis=-1, keepdims=True))[..., None, :]
    out /= out.sum(axis=-1, keepdims=True)
    return out


def compute_posteriors(
    features: Features, log_share: FloatArray, coefficients: FloatArray
) -> FloatArray:
    """W (D, r, K) of rows with ``features``, for each of the ``coefficients`` (D, 1 + P)."""
    z = features.combine(coefficients)
    z += (np.exp(coefficients[:, :1]) + features.compute_slopes(coefficients))[
        :, None
    ] * features.ratio
    z += (features.compute_shifts(coefficients) + log_share)[:, None]
    z -= _find_top(z)[:, :, None]
    np.exp(z, out=z)
    z /= z.sum(axis=2, keepdims=True)
    return z


FEW_CLASSES = 16
"""Up to as many, a maximum is faster one class at a time."""


def _find_top(z: FloatArray) -> FloatArray:
    """``z.max(axis=2)``."""
    if z.shape[2] > FEW_CLASSES:
        largest: FloatArray = z.max(axis=2)
        return largest
    out = z[:, :, 0].copy()
    for k in range(1, z.shape[2]):
        np.maximum(out, z[:, :, k], out=out)
    return out


# -------------------------------------------------------------------------------------------------
# The best coefficients of the model given the labels, and how well they fit.
#
#     mode       = argmax_theta  log L(theta) + log prior(theta)            `find_mode`
#     H          = J^T (diag W - W W^T) J + prior precision                 `compute_curvature`
#     log Z      = log L(mode) + log prior(mode) + (P/2) log 2 pi - 1/2 log det H     `log_evidence`
#
# L is the likelihood of the labels under the model of `model`, and the prior of every family is a
# multivariate Student t. The mode is found by Newton steps, each cut in half until the posterior
# grows; the expected curvature H (Fisher information) stands for the Hessian, and a Student t for
# the normal distribution that has the same slope at this point. Z, the marginal likelihood of the
# labels by Laplace's approximation, is what weighs regimes against each other (`mixture`), and H
# is the precision of the draws from which the chains start (`sampler`).


def find_mode(evidence: LabelEvidence) -> FloatArray:
    """The mode (1 + P,) of the coefficients; coefficients that the mode does not fit are zero.

    Each Newton step is halved until the posterior grows. Without labels the mode is the prior's
    center.
    """
    kept = np.flatnonzero(evidence.in_mode)
    fitted = tuple(family for family in evidence.families if family.in_mode)
    theta = evidence.mean
    if len(evidence.labels) == 0:
        return theta
    value = _log_posterior(evidence, theta)
    tolerance = evidence.constants.newton_tolerance
    for _ in range(evidence.constants.newton_steps):
        slope, bend = _compute_information(evidence, theta, fitted)
        precision = evidence.evaluate_student_prior(theta)[1][kept]
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


def compute_curvature(evidence: LabelEvidence, theta: FloatArray, power: float = 1.0) -> FloatArray:
    """H (1 + P, 1 + P) at ``theta``, with all coefficients and the likelihood to a ``power``.

    The prior is the normal one that the Student t is for rho = 1.
    """
    bend = _compute_information(evidence, theta, evidence.families)[1]
    return power * bend + np.diag(1.0 / evidence.sd**2)


def log_evidence(evidence: LabelEvidence, mode: FloatArray) -> float:
    """log Z, the log marginal likelihood of the labels; zero without labels.

    P and H are of the coefficients that the mode fits, and the prior of every family has its
    normalizing constant.
    """
    if len(evidence.labels) == 0:
        return 0.0
    kept = np.flatnonzero(evidence.in_mode)
    nu, value = evidence.constants.nu, _log_posterior(evidence, mode)
    for block in evidence.blocks:
        if evidence.in_mode[block.start]:
            size, sd = block.stop - block.start, float(evidence.sd[block.start])
            value += float(gammaln((nu + size) / 2.0) - gammaln(nu / 2.0))
            value -= size * (0.5 * float(np.log(nu * np.pi)) + float(np.log(sd)))
    fitted = tuple(family for family in evidence.families if family.in_mode)
    bend = _compute_information(evidence, mode, fitted)[1]
    bend = bend + np.diag(evidence.evaluate_student_prior(mode)[1][kept])
    log_det = float(np.linalg.slogdet(bend)[1])
    return value + 0.5 * kept.size * float(np.log(2.0 * np.pi)) - 0.5 * log_det


def _log_posterior(evidence: LabelEvidence, theta: FloatArray) -> float:
    """Log-likelihood plus log prior of ``theta`` (1 + P,), up to a constant."""
    likelihood = evidence.log_likelihood(theta[:1], evidence.compute_linear_part(theta[None]))
    return float(likelihood[0]) + evidence.evaluate_student_prior(theta)[0]


def _compute_information(
    evidence: LabelEvidence, theta: FloatArray, families: tuple[Family, ...]
) -> tuple[FloatArray, FloatArray]:
    """Slope and expected curvature of the log-likelihood over log b and ``families``, in order.

    With J the derivatives of z and J' those minus their mean under W, the slope is the sum of J'
    at the labels and the curvature sum_ik W_ik J'_ik J'_ik^T. A family f with one coefficient per
    class, whose derivative is m_ik for its own class and zero for others, has

        slope_k = sum_i m_ik ([y_i = k] - W_ik),
        curvature with g = diag( sum_i W m_f m_g ) - (W m_f)^T (W m_g),

    and with a dense column sum_i W_ik m_ik J'_ik.
    """
    features, labels, n_classes = evidence.features, evidence.labels, evidence.spread.size
    b, rows = np.exp(theta[0]), np.arange(len(labels))
    z = evidence.compute_linear_part(theta[None]).reshape(features.ratio.shape) + evidence.log_share
    w = np.exp(log_softmax(z + b * features.ratio))
    by_class = {
        "a": np.ones_like(w),
        "s": features.ratio,
        "d": np.broadcast_to(evidence.spread, w.shape),
    }
    places, size = _find_places(families)
    dense_families = [family for family in families if family.name not in by_class]
    inside = np.concatenate([[0], *(places[family.name] for family in dense_families)])
    columns = [c for f in dense_families for c in range(f.columns.start, f.columns.stop)]
    dense = features.dense[:, :, np.array(columns, dtype=np.int64) - n_classes]
    jacobian = np.concatenate([(b * features.ratio)[:, :, None], dense], axis=2)
    jacobian -= np.einsum("nk,nkp->np", w, jacobian)[:, None, :]
    count = np.ones(len(labels)) if evidence.weights is None else evidence.weights
    slope, bend = np.empty(size), np.empty((size, size))
    slope[inside] = count @ jacobian[rows, labels]
    weighted = (jacobian * np.sqrt(w * count[:, None])[:, :, None]).reshape(-1, inside.size)
    bend[np.ix_(inside, inside)] = weighted.T @ weighted
    own = [family.name for family in families if family.name in by_class]
    for i, f in enumerate(own):
        at, expected = places[f], w * by_class[f] * count[:, None]
        observed = np.bincount(labels, count * by_class[f][rows, labels], n_classes)
        slope[at] = observed - expected.sum(axis=0)
        cross = np.einsum("nk,nkp->pk", expected, jacobian)
        bend[np.ix_(inside, at)], bend[np.ix_(at, inside)] = cross, cross.T
        for g in own[i:]:
            block = np.diag((expected * by_class[g]).sum(axis=0)) - expected.T @ (w * by_class[g])
            bend[np.ix_(at, places[g])], bend[np.ix_(places[g], at)] = block, block.T
    return slope, bend


def _find_places(families: tuple[Family, ...]) -> tuple[dict[str, NDArray[np.int64]], int]:
    """Places of each family's coefficients where log b is first and only they follow; the size."""
    places, start = {}, 1
    for family in families:
        stop = start + family.columns.stop - family.columns.start
        places[family.name], start = np.arange(start, stop), stop
    return places, start

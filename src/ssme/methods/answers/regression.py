"""What labels add: a Bayesian logistic regression about what agreement says.

    z_i = o_i + F_i theta (+ d on labeled rows),      theta_F ~ t_nu(0, sd_F),  a block at a time

with o_i the offset that needs no label. Everything is linear in theta: the mode is found by damped
Newton steps in which each Student t is a normal of equal slope, draws by elliptical slice steps
(Murray, Adams and MacKay, AISTATS 2010) with the scale of each block drawn between steps. The
likelihood enters the draws raised to a power below one: the model is not exact (Bissiri, Holmes
and Walker, JRSS B 78, 2016).

Labels may over-represent rare classes, so that labeled rows have intercepts d of their own, which
all other rows do without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.voices import Voices
from ssme.methods.parts.draws import Angles
from ssme.metrics.base import FloatArray

# -------------------------------------------------------------------------------------------------
# What judges say about each other, before any label is seen.
#
# d_j is the share of rows on which judge j differs from the plurality of the *others* (ties shared
# out), D its mean. Judges err together on hard rows, so that errors exceed disagreement:
#
#     logit e_j = logit d_j + gap,        w_j = log[ (1 - e_j)(K - 1) / e_j ],
#
# w_j the weight of an answer if errors were independent. They are not: m answers count as m / (1
# + (m - 1) rho), and how sharp the pool of all answers should be is settled by agreement too:
#
#     z_ik = alpha_k + b l_ik,    l_ik = sum_j w_j e_ijk / (1 + (m_i - 1) rho),
#
# b such that the mean error of the votes under W = softmax(z) is sigma(logit D + gap), alpha such
# that W has the class shares p. Shares and sharpness are thereby apart: what labels say about one
# does not disturb the other. p are the shares of the votes, moved a little towards equal ones, for
# rare classes are answered too seldom.


@dataclass(frozen=True, eq=False)
class JudgeAgreement:
    """Weights (M,), shares (K,), offset alpha (K,), log b and mean error that agreement says."""

    weights: FloatArray
    shares: FloatArray
    offset: FloatArray
    log_b: float
    error: float
    disagreement: float

    @classmethod
    def of(
        cls,
        evidence: FloatArray,
        votes: FloatArray,
        of: AnswerConstants,
        stated: FloatArray | None = None,
    ) -> JudgeAgreement:
        """From evidence and votes (n, M, K) of all rows, labeled or not.

        ``stated`` (K,) are class shares that say more than the votes do.
        """
        n_classes = votes.shape[2]
        own, counts = measure_disagreement(votes)
        mean = float((own * counts).sum() / counts.sum()) if counts.any() else 0.5
        mean = min(max(mean, 0.003), 0.9)
        own = (own * counts + mean * of.few_answers) / (counts + of.few_answers)
        gap = of.gap - of.gap_per_class * (n_classes - 2)
        errors, error = _take_beyond(own, gap), float(_take_beyond(np.array(mean), gap))
        weights = np.log((1.0 - errors) * (n_classes - 1) / errors)
        weights = np.maximum(weights, of.least_weight)
        if stated is None:
            shares = votes.sum(axis=(0, 1)) / votes.sum()
            shares = shares + of.share_mix * error * (1.0 / n_classes - shares)
        else:
            shares = stated.copy()
        shares = np.maximum(shares, of.least_share / n_classes)
        shares /= shares.sum()
        pool = pool_evidence(evidence, weights, of.dependence)
        log_b = _match_error(pool, shares, votes, error, of) + of.log_b_up
        offset = calibrate_offset(np.exp(log_b) * pool, shares, of.share_steps)
        return cls(weights, shares, offset, log_b, error, mean)


def _take_beyond(share: FloatArray, gap: float) -> FloatArray:
    inside = np.clip(share, 0.003, 0.95)
    odds = inside / (1.0 - inside) * np.exp(gap)
    out: FloatArray = odds / (1.0 + odds)
    return out


def measure_disagreement(votes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """d (M,) and the rows (M,) it rests on: those that another judge answered too."""
    total, n_models = votes.sum(axis=1), votes.shape[1]
    own, counts = np.zeros(n_models), np.zeros(n_models)
    for j in range(n_models):
        others = total - votes[:, j]
        both = (votes[:, j].sum(axis=1) > 0) & (others.sum(axis=1) > 0)
        if both.any():
            others = others[both]
            top = others == others.max(axis=1, keepdims=True)
            share = top / top.sum(axis=1, keepdims=True)
            own[j] = 1.0 - float((share * votes[both, j]).sum(axis=1).mean())
            counts[j] = both.sum()
    return own, counts


def pool_evidence(evidence: FloatArray, weights: FloatArray, dependence: float) -> FloatArray:
    """l (n, K): weighted evidence of all judges, allowing for how many speak on a row."""
    total: FloatArray = np.einsum("nmk,m->nk", evidence, weights)
    return total * compute_loudness(evidence, dependence)[:, None]


def compute_loudness(evidence: FloatArray, dependence: float) -> FloatArray:
    """1 / (1 + (m - 1) rho) (n,), m the number of judges that say something on a row."""
    speaking = (evidence != 0.0).any(axis=2).sum(axis=1)
    out: FloatArray = 1.0 / (1.0 + dependence * np.maximum(speaking - 1, 0))
    return out


def softmax(z: FloatArray) -> FloatArray:
    """exp(z) / sum exp(z) over the last axis."""
    out: FloatArray = np.exp(z - z.max(axis=-1, keepdims=True))
    out /= out.sum(axis=-1, keepdims=True)
    return out


def calibrate_offset(z: FloatArray, shares: FloatArray, steps: int = 100) -> FloatArray:
    """alpha (K,) with which softmax(alpha + z) has the mean ``shares``, by iterative scaling."""
    offset = np.log(shares)
    for _ in range(steps):
        step = np.log(shares) - np.log(np.maximum(softmax(offset + z).mean(axis=0), 1e-12))
        offset = offset + step
        if np.abs(step).max() < 1e-4:
            break
    return offset


def _match_error(
    pool: FloatArray,
    shares: FloatArray,
    votes: FloatArray,
    error: float,
    of: AnswerConstants,
) -> float:
    """log b at which the votes' mean error under W is ``error``, within its bounds."""
    by_class, (low, high) = votes.sum(axis=1), of.log_b
    for _ in range(of.bisections):
        middle = 0.5 * (low + high)
        z = np.exp(middle) * pool
        w = softmax(calibrate_offset(z, shares, of.share_steps) + z)
        if 1.0 - float((w * by_class).sum() / by_class.sum()) > error:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@dataclass(frozen=True)
class CoefficientBlock:
    """Columns that share one Student t."""

    columns: slice
    name: str


@dataclass(frozen=True, eq=False)
class Regression:
    """Labeled rows: offset (n, K), features (n, K, P), labels (n,), weights (n,) and the prior."""

    offset: FloatArray
    features: FloatArray
    labels: NDArray[np.int64]
    weights: FloatArray
    blocks: tuple[CoefficientBlock, ...]
    sd: FloatArray
    constants: AnswerConstants

    def find_mode(self) -> FloatArray:
        """theta (P,) at the mode of its posterior."""
        theta = np.zeros(self.sd.size)
        if len(self.labels) == 0:
            return theta
        value, tolerance = self._log_posterior(theta), self.constants.newton_tolerance
        for _ in range(self.constants.newton_steps):
            slope, root = self._compute_slope(theta)
            precision = self._compute_precision(theta)
            step = _solve(root, precision, slope - precision * theta)
            reached = self._log_posterior(theta + step)
            while reached < value and np.abs(step).max() > tolerance:
                step = step / 2.0
                reached = self._log_posterior(theta + step)
            if reached <= value + tolerance:
                break
            theta, value = theta + step, reached
        return theta

    def log_evidence(self, mode: FloatArray) -> float:
        """Log marginal likelihood of the labels, by Laplace about the ``mode``.

        log L + log prior + (P/2) log 2 pi - 1/2 log det H, each Student t with its constants.
        """
        if len(self.labels) == 0:
            return 0.0
        nu, value = self.constants.nu, self._log_posterior(mode)
        for block in self.blocks:
            size = block.columns.stop - block.columns.start
            value += float(gammaln((nu + size) / 2.0) - gammaln(nu / 2.0))
            value -= 0.5 * size * float(np.log(nu * np.pi))
            value -= float(np.log(self.sd[block.columns]).sum())
        root, precision = self._compute_slope(mode)[1], self._compute_precision(mode)
        if len(root) > len(precision):
            bend = float(np.linalg.slogdet(root.T @ root + np.diag(precision))[1])
        else:
            inner = np.eye(len(root)) + (root / precision) @ root.T
            bend = float(np.linalg.slogdet(inner)[1]) + float(np.log(precision).sum())
        return value + 0.5 * mode.size * float(np.log(2.0 * np.pi)) - 0.5 * bend

    def draw(
        self,
        mode: FloatArray,
        n_draws: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Draws (D, P) of theta; without labels those of the prior."""
        state = np.repeat(mode[None], n_draws, axis=0)
        if len(self.labels) == 0:
            return self._draw_scales(state, rng, known=False) * rng.standard_normal(state.shape)
        chains = replace(self, weights=self.weights * self.constants.power)
        linear, level = (
            chains._compute_linear_part(state),
            chains._log_likelihood(chains._compute_linear_part(state)),
        )
        for _ in range(self.constants.steps):
            other = chains._draw_scales(state, rng) * rng.standard_normal(state.shape)
            linear_other = chains._compute_linear_part(other)
            bar = level - rng.standard_exponential(n_draws)
            angles = Angles.draw(n_draws, rng)
            moved, moved_linear, moved_level = state.copy(), linear.copy(), level.copy()
            active = np.arange(n_draws)
            for _ in range(self.constants.shrinks):
                angle = angles.angle[active, None]
                cos, sin = np.cos(angle), np.sin(angle)
                tried = cos * linear[active] + sin * linear_other[active]
                reached = chains._log_likelihood(tried)
                accepted = reached > bar[active]
                done = active[accepted]
                moved[done] = (cos * state[active] + sin * other[active])[accepted]
                moved_linear[done], moved_level[done] = tried[accepted], reached[accepted]
                active = active[~accepted]
                if active.size == 0:
                    break
                angles.shrink(active, rng)
            state, linear, level = moved, moved_linear, moved_level
        return state

    def _compute_linear_part(self, theta: FloatArray) -> FloatArray:
        """F theta (D, n K) of theta (D, P)."""
        out: FloatArray = theta @ self.features.reshape(-1, self.sd.size).T
        return out

    def _log_likelihood(self, linear: FloatArray) -> FloatArray:
        n, n_classes = self.offset.shape
        z = linear.reshape(len(linear), n, n_classes) + self.offset
        top = z.max(axis=2)
        observed = z[:, np.arange(n), self.labels]
        total = np.log(np.exp(z - top[:, :, None]).sum(axis=2))
        out: FloatArray = (observed - top - total) @ self.weights
        return out

    def _log_posterior(self, theta: FloatArray) -> float:
        value = float(self._log_likelihood(self._compute_linear_part(theta[None]))[0])
        for block in self.blocks:
            size = block.columns.stop - block.columns.start
            squares = float(((theta / self.sd)[block.columns] ** 2).sum())
            value -= (self.constants.nu + size) / 2.0 * float(np.log1p(squares / self.constants.nu))
        return value

    def _compute_precision(self, theta: FloatArray) -> FloatArray:
        """Precisions (P,) of the normals whose slope at ``theta`` is that of the Student t."""
        out = np.empty_like(theta)
        for block in self.blocks:
            size = block.columns.stop - block.columns.start
            squares = float(((theta / self.sd)[block.columns] ** 2).sum())
            out[block.columns] = (self.constants.nu + size) / (self.constants.nu + squares)
        return out / self.sd**2

    def _compute_slope(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slope (P,) of the log-likelihood and a root (n K, P) of its curvature."""
        n, n_classes = self.offset.shape
        w = softmax(self.offset + self._compute_linear_part(theta[None]).reshape(n, n_classes))
        centered = self.features - np.einsum("nk,nkp->np", w, self.features)[:, None]
        slope = self.weights @ centered[np.arange(n), self.labels]
        root = centered * np.sqrt(w * self.weights[:, None])[:, :, None]
        return slope, root.reshape(n * n_classes, -1)

    def _draw_scales(
        self, state: FloatArray, rng: np.random.Generator, *, known: bool = True
    ) -> FloatArray:
        """rho sd (D, P) with each block's rho drawn given ``state`` (D, P)."""
        out = np.empty_like(state)
        for block in self.blocks:
            size = (block.columns.stop - block.columns.start) * known
            squares = ((state / self.sd)[:, block.columns] ** 2).sum(axis=1) * known
            rho = np.sqrt(
                (self.constants.nu + squares) / rng.chisquare(self.constants.nu + size, len(state))
            )
            out[:, block.columns] = rho[:, None] * self.sd[block.columns]
        return out


def _solve(root: FloatArray, precision: FloatArray, slope: FloatArray) -> FloatArray:
    """(root^T root + diag(precision))^-1 slope, by whichever side is smaller."""
    n, size = root.shape
    if n >= size:
        out = np.linalg.solve(root.T @ root + np.diag(precision), slope)
        return np.asarray(out, dtype=np.float64)
    scaled = root / precision
    inner = np.linalg.solve(np.eye(n) + scaled @ root.T, scaled @ slope)
    return np.asarray(slope / precision - scaled.T @ inner, dtype=np.float64)


# -------------------------------------------------------------------------------------------------
# The pool of all judges and what labels may change about it, on any rows.
#
#     z_ik = alpha_k + b l_ik                                                offset, without labels
#          + beta b l_ik  +  sum_j v_j b w e_ijk loud_i  +  s_k b l_ik  +  a_k           theta
#
# beta changes the sharpness, v_j the weight of judge j (w the mean weight), s_k how much answers of
# class k are worth, a_k the share of class k. The columns of beta, v and s are centered so that, to
# first order, they leave the class shares as they are.


@dataclass(frozen=True, eq=False)
class AnswersDesign:
    """Everything that turns scores into P(y), but theta."""

    voices: Voices
    agreement: JudgeAgreement
    center: FloatArray
    constants: AnswerConstants

    @classmethod
    def of(cls, voices: Voices, scores: FloatArray, constants: AnswerConstants) -> AnswersDesign:
        """From the scores (n, M, K) of all rows, of which as many are used as it takes."""
        n, n_models, n_classes = scores.shape
        used = np.unique(np.linspace(0, n - 1, min(n, constants.agreement_rows)).astype(np.int64))
        evidence, votes = voices.compute_evidence(scores[used]), voices.cast_votes(scores[used])
        agreement = JudgeAgreement.of(evidence, votes, constants, voices.shares)
        bare = cls(voices, agreement, np.zeros((n_classes, 1 + n_models + n_classes)), constants)
        offset, columns = bare._make_columns(evidence)
        w = softmax(offset)
        spread = np.diag(w.sum(axis=0)) - w.T @ w
        mean = np.einsum("nk,nkp->np", w, columns)
        moved = np.einsum("nk,nkp->kp", w, columns) - w.T @ mean
        center = np.linalg.pinv(spread, rcond=1e-9) @ moved
        return cls(voices, agreement, center, constants)

    @property
    def blocks(self) -> tuple[CoefficientBlock, ...]:
        """The families of theta."""
        n_models, n_classes = len(self.voices.each), len(self.agreement.shares)
        ends = np.cumsum([0, 1, n_models, n_classes, n_classes]).tolist()
        names = ("b", "v", "s", "a")
        return tuple(
            CoefficientBlock(slice(start, stop), name)
            for name, start, stop in zip(names, ends[:-1], ends[1:], strict=True)
        )

    def make_scales(self, widening: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> FloatArray:
        """Prior scale (P,) of theta; ``widening`` multiplies those of b, of v and s, and of a."""
        of, n_models = self.constants, len(self.voices.each)
        shares = of.sd_share * self.agreement.error / self.agreement.shares
        rated = of.sd_share_rated + of.sd_share_curve * self.voices.curve
        shares = np.clip(shares, *of.sd_share_range) + rated * self.voices.rated
        return np.concatenate(
            [
                [widening[0] * of.sd_b],
                np.full(n_models, widening[1] * of.sd_v),
                np.full(shares.size, widening[1] * of.sd_s),
                widening[2] * shares,
            ]
        )

    def make_features(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Offset (r, K) and columns (r, K, P) of rows with ``scores`` (r, M, K)."""
        offset, columns = self._make_columns(self.voices.compute_evidence(scores))
        n, n_classes = offset.shape
        shares = np.broadcast_to(np.eye(n_classes), (n, n_classes, n_classes))
        return offset, np.concatenate([columns - self.center, shares], axis=2)

    def compute_posterior(self, scores: FloatArray, theta: FloatArray) -> FloatArray:
        """W (n, K) at ``theta`` (P,), so many rows at a time."""
        n, _, n_classes = scores.shape
        out: FloatArray = np.empty((n, n_classes))
        step = max(1, self.constants.batch_cells // (n_classes * theta.size))
        for start in range(0, n, step):
            offset, columns = self.make_features(scores[start : start + step])
            out[start : start + step] = softmax(offset + columns @ theta)
        return out

    def _make_columns(self, evidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Offset (r, K) and the columns (r, K, 1 + M + K) of beta, v and s, not yet centered."""
        weights, b = self.agreement.weights, float(np.exp(self.agreement.log_b))
        loud = b * compute_loudness(evidence, self.constants.dependence)
        own = evidence.transpose(0, 2, 1) * loud[:, None, None]
        base: FloatArray = own @ weights
        n_classes = base.shape[1]
        by_class = base[:, :, None] * np.eye(n_classes)
        columns = np.concatenate([base[:, :, None], own * weights.mean(), by_class], axis=2)
        return self.agreement.offset + base, columns

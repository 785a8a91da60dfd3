"""What raters' scales say by themselves, before others are asked what a grade means.

G grades are G equal parts of the way from "surely negative" to "surely positive". How often each is
given tells where within its part a grade stands, and how frequent positives are: for each rater

    p ~ Beta(mean s, (1 - mean) s),     counts ~ multinomial( P(g/G < p < (g + 1)/G) )

with weak priors on logit(mean) and log(s), on a grid. Raters see the same rows, so that the center
of the prior of logit(mean) is, in a second round, the median of the raters'; a rater who gives the
lowest grade to all rows then means "as seldom as the others say". The share of positives that the
scales state is the mean over raters on the logit scale.

A rater who gives all grades equally often grades on a curve, and states no share:

    curve = exp( -KL(counts, equal) / width ).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betainc

from ssme.methods.answers.constants import AnswerConstants
from ssme.metrics.base import FloatArray

__all__ = ["estimate_stated_share", "measure_curve"]


def estimate_stated_share(counts: Sequence[FloatArray], of: AnswerConstants) -> float:
    """The share of positives by raters who gave each grade so often (G,), lowest first."""
    likelihoods = [_log_likelihood(each, of) for each in counts]
    broad = [_compute_mean(each, 0.0, of.scale_mean, of) for each in likelihoods]
    center = float(np.median(broad))
    near = [_compute_mean(each, center, of.scale_borrowed, of) for each in likelihoods]
    return float(1.0 / (1.0 + np.exp(-np.mean(near))))


def measure_curve(counts: FloatArray, width: float) -> float:
    """How far a rater grades on a curve: one where all grades (G,) are given equally often."""
    share = counts / counts.sum()
    used = share > 0.0
    excess = float((share[used] * np.log(share[used] * share.size)).sum())
    return float(np.exp(-excess / width))


def _make_grid(of: AnswerConstants) -> tuple[FloatArray, FloatArray]:
    """logit(mean) and log(s) of the grid."""
    ends = of.scale_ends
    return np.linspace(-ends, ends, of.scale_steps), np.linspace(-1.5, 4.0, of.scale_steps)


def _log_likelihood(counts: FloatArray, of: AnswerConstants) -> FloatArray:
    """Log-likelihood of the grades on the grid (mean, s), as if of ``scale_rows`` rows."""
    logits, sizes = _make_grid(of)
    mean, size = 1.0 / (1.0 + np.exp(-logits))[:, None, None], np.exp(sizes)[None, :, None]
    edges = np.arange(counts.size + 1) / counts.size
    mass = np.diff(betainc(mean * size, (1.0 - mean) * size, edges), axis=-1)
    rows = min(of.scale_rows, float(counts.sum()))
    out: FloatArray = rows * (np.log(np.maximum(mass, 1e-12)) @ (counts / counts.sum()))
    return out


def _compute_mean(
    likelihood: FloatArray, center: float, spread: float, of: AnswerConstants
) -> float:
    """Posterior mean of logit(mean)."""
    logits, sizes = _make_grid(of)
    log_posterior = likelihood - 0.5 * ((logits[:, None] - center) / spread) ** 2
    log_posterior = log_posterior - 0.5 * (sizes - of.scale_size) ** 2
    weights = np.exp(log_posterior - log_posterior.max())
    return float((weights.sum(axis=1) @ logits) / weights.sum())

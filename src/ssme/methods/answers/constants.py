"""Every number of the method ``answers`` that changes a result, in one frozen record.

Chosen on runs 0 to 5 of the development sets with their scores rounded to 0 and 1, and of four sets
of real judges (benchmarks/evidence/answers.md says what was tried).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ssme.methods.regression import SamplerConstants


@dataclass(frozen=True)
class AnswerConstants:
    """All constants of `ssme.methods.answers.method.Answers`."""

    gap: float = 0.5
    gap_per_class: float = 0.03
    """Judges err more than they disagree: logit of the mean error minus logit of the mean
    disagreement, ``gap - gap_per_class (K - 2)``. With more classes wrong answers agree less."""

    few_answers: float = 20.0
    """A judge's disagreement counts as that many answers of an average judge more."""

    least_weight: float = 0.05
    """Least weight of a judge's answer before labels are seen."""

    dependence: float = 0.2
    """rho: m answers on a row count as ``m / (1 + (m - 1) rho)``."""

    share_mix: float = 0.5
    """Rare classes are answered too seldom: shares move by ``share_mix`` times the mean error
    towards equal ones."""

    least_share: float = 0.01
    """Least share of a class, divided by the number of classes."""

    log_b: tuple[float, float] = (-2.0, 0.2)
    """Range of the logarithm of the sharpness that agreement may say."""

    log_b_up: float = 0.05
    """Added to it: people and models are a little more independent than agreement says."""

    clip: float = 0.01
    """Least probability of a model that gives probabilities."""

    sd_b: float = 0.1
    """Scale of the relative change of the sharpness."""

    sd_v: float = 0.6
    """Scale of a judge's own weight, in units of the mean weight."""

    sd_s: float = 0.15
    """Scale of a class's own sharpness."""

    sd_share: float = 0.3
    sd_share_range: tuple[float, float] = (0.1, 0.6)
    """Scale of the class shifts, ``sd_share`` times mean error over share, within this range."""

    sd_share_rated: float = 0.2
    sd_share_curve: float = 0.3
    """Added to it, times the share of models that give ratings: a rater's scale says less about how
    frequent a class is than an answer does, and nothing if it is a curve."""

    curve_width: float = 0.1
    """Excess (nats) of the grades over equal use at which a rater hardly grades on a curve."""

    scale_mean: float = 2.0
    scale_shrinkage: float = 0.7
    scale_size: float = 0.4
    """Priors of a rater's use of its scale: spread of the logit of its mean, alone and about the
    other raters', and center of the logarithm of its concentration."""

    scale_rows: float = 100.0
    """A rater's grades count as those of so many rows: a Beta distribution is not exact."""

    scale_steps: int = 50
    scale_ends: float = 6.0
    """Grid of the mean and concentration of a scale: steps of each, largest logit of the mean."""

    curve_rows: float = 20.0
    """Where raters grade on a curve, class shares are those of the labels and this many rows
    more."""

    chosen: float = 1.5
    """Scale of the label intercepts where rows were chosen by class."""

    odd_worlds: float = 0.02
    """Prior probability of each world that is not the usual one."""

    odd_shares: float = 4.0
    """Factor of the scale of the class shifts where classes are not as frequent as answers say."""

    nu: float = 4.0
    """Degrees of freedom of every family's Student t in the mode, and in the draws."""

    draw_widening: tuple[float, float, float] = (1.5, 3.0, 2.5)
    """Factors of the scales of b, v and shares in the draws: shrinking hard is good for the
    estimate, not for an interval."""

    sampler: SamplerConstants = field(
        default_factory=lambda: SamplerConstants(power=0.7, start_spread=False, laplace_rows=10**9)
    )
    """How the coefficients are drawn."""

    bias: float = 0.14
    bias_spread: float = 0.8
    """Prior of the logarithm of tau, the size of what the model misses in a judge's metric: normal
    about that of ``bias`` times the mean error."""

    errs_together: float = 0.4
    """Residuals of M judges count as ``M / (1 + errs_together (M - 1))`` of them."""

    bias_labels: float = 25.0
    """n_0 of `ssme.methods.auto.correction`: as many labels of random rows have the noise that the
    bias of differences is expected to have, which labels of suggested rows correct."""

    least_noise: float = 1e-5
    """Least variance of what these labels say: judges answer different rows, so that differences
    do not quite add up to zero."""

    taus: tuple[float, float, int] = (0.002, 0.3, 24)
    """Least and largest tau that is tried, and how many."""

    smoothing: float = 4.0
    """Rows of an average kind that are added to those with a grade, where others say what it
    means."""

    least_rate: float = 0.005
    """Least share of the others that a grade can represent."""

    share_steps: int = 100
    """Most steps to the offset that gives the class shares."""

    bisections: int = 14
    """Steps to the sharpness that gives the mean error."""

    newton_tolerance: float = 1e-8
    """Gain in log posterior that ends the search for the mode."""

    fit_rows: int = 20_000
    """Most labeled rows in the fit; with more the residual decides anyway."""

    label_draws: int = 50
    """Label draws behind the residual's variance."""

    agreement_rows: int = 5000
    """Most rows on which agreement is looked at."""

    world_rows: int = 5000
    """Most rows of a group on which draws are computed."""

    batch_cells: int = 1 << 22
    """Cells (draws x rows x classes) in memory at once."""

    edge: float = 1e-6
    """Least distance from the ends of a metric's range on the logit scale."""

"""Every number of ``auto`` that changes a result, in one frozen record.

`Auto.constants` holds a `Constants`; each part of the method is handed the group it needs. To try
another value, replace it:

    from dataclasses import replace
    Auto(constants=replace(Constants(), pool=replace(PoolConstants(), clip=0.01)))

The origin of each value and what else was tried: docs/auto-notebook.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ssme.metrics.decisions import ACCURACY
from ssme.metrics.kinds import Calibration, Kind, Ranking

__all__ = [
    "ALL_POOLS",
    "Constants",
    "CorrectionConstants",
    "IndependenceConstants",
    "ModelConstants",
    "PoolConstants",
    "PriorConstants",
    "RecenteringConstants",
    "SamplerConstants",
]

ALL_POOLS = (
    "mean",
    "geometric mean",
    "median",
    "weighted mean",
    "weighted geometric mean",
    "weighted median",
)
"""The pools that can be averaged; a weighted one uses the weights that the labels give."""


@dataclass(frozen=True)
class PoolConstants:
    """How the classifiers' scores become one score (`pool`)."""

    clip: float = 1e-4
    """Smallest score; smaller ones are raised to it."""

    members: tuple[str, ...] = ALL_POOLS
    """The pools whose logarithms are averaged."""

    label_trust: float = 1.0
    """Factor of sqrt(n) in the classifiers' label weights."""

    stated_shares: bool = True
    """Whether the pool is sharpened about the class shares the scores state, or equal ones."""


@dataclass(frozen=True)
class IndependenceConstants:
    """How independent classifiers are told from the usual ones (`independence`)."""

    usual_rho: tuple[float, float] = (0.37, 0.14)
    """Mean and standard deviation, over sets of real classifiers, of the correlation rho."""

    prior: float = 0.1
    """Probability of independence before rho is seen."""

    least_models: int = 3
    """Fewer classifiers than this are never taken for independent."""

    almost_rho: float = 0.015
    """Standard deviation of rho about zero beyond chance: nothing is exactly independent."""

    almost_tau: float = 0.01
    """Standard deviation of tau about zero beyond chance: nothing is exactly calibrated."""

    noise_tau: float = 0.1
    """Variance of tau by chance, times the number of rows."""

    negligible: float = 0.02
    """A smaller probability of independence counts as none."""

    rows: int = 5000
    """Rows behind rho and tau."""

    constant: float = 1e-6
    """Log-odds whose standard deviation is smaller do not vary."""

    least_class: float = 5.0
    """Expected rows below which a class is left out of rho."""


@dataclass(frozen=True)
class PriorConstants:
    """How sharp the pool is expected to be before a label is seen (`prior`)."""

    coefficients: tuple[float, float, float] = (-0.06, 0.43, 1.22)
    """ALPHA (with `margin` in it), BETA and GAMMA of the line that predicts log b."""

    margin: float = 0.04
    """Added to the fitted ALPHA: a pool too vague costs more error than one too sharp."""

    knee: float = 0.02
    """Stated error beyond which vagueness tells little more."""

    least_error: float = 0.007
    """Classifiers that state a smaller error state none: they answer 0 or 1."""

    hard_answers: tuple[float, float] = (-1.5, 0.5)
    """Center of log b for classifiers that answer 0 or 1, by (1, 1 - 1/M)."""

    scale: float = 0.12
    scale_few: float = 0.30
    """The scale of log b is ``scale + scale_few / M``."""

    widening: float = 2.2
    """The draws' scale of log b is this many times that of the mode."""


@dataclass(frozen=True)
class ModelConstants:
    """Prior scales of the recalibration model, and its fit (`model`)."""

    nu: float = 4.0
    """Degrees of freedom of every family's Student t."""

    sd_a: float = 0.05
    sd_a_few: float = 2.0
    """Class shifts a: ``sd_a + sd_a_few / M^2``."""

    sd_t: float = 0.85
    """Tilts t: ``sd_t / sqrt(M)``."""

    sd_c: float = 0.045
    """Weights of classifiers c."""

    sd_v: float = 0.06
    """Votes v."""

    sd_r: float = 0.07
    """Shape of the calibration curve r."""

    sd_s: float = 0.08
    """Class-wise slopes s."""

    sd_d: float = 1.0
    """Label intercepts d, in units of ``log(1 + 1/(n p_k))``."""

    chance: float = 2.0
    """Standard errors by which a class's share in the labeled rows may be off by chance."""

    mode_families: tuple[str, ...] = ("a", "t")
    """Families, beside log b and d, that the mode fits; the others are zero in it."""

    newton_steps: int = 50
    """Most Newton steps to the mode."""

    newton_tolerance: float = 1e-9
    """Gain in log posterior that counts as none."""


@dataclass(frozen=True)
class SamplerConstants:
    """How the coefficients are drawn (`sampler`)."""

    steps: int = 12
    """Elliptical slice steps per chain."""

    power: float = 0.5
    """Weight of a label in the draws."""

    laplace_rows: int = 2000
    """With more labels than this, draws are those of the normal approximation."""

    chain_cells: int = 1 << 24
    """Chains x labeled rows x classes worked on at once. The order in which chains take random
    numbers follows it where there are more."""

    shrinks: int = 60
    """Most shrinkages of a slice's bracket; a chain that has not moved by then stays."""


@dataclass(frozen=True)
class CorrectionConstants:
    """How far the labels correct the model (`correction`)."""

    half: float = 500.0
    half_few: float = -300.0
    """Labels at which a model that they confirm is corrected by half: ``half + half_few / M``."""

    least_misfit: float = 0.3
    most_misfit: float = 30.0
    """Bounds of the misfit s."""

    leftover: float = 2.5
    """How often the variance that the correction leaves counts: the model's bias is not normal."""

    label_draws: int = 50
    """Label draws behind the residual and its variance."""


@dataclass(frozen=True)
class RecenteringConstants:
    """How the draws are moved onto the estimate (`recentering`)."""

    stretch: Mapping[Kind, float] = field(
        default_factory=lambda: {
            ACCURACY: 0.76,
            Ranking("roc_auc"): 0.70,
            Calibration(): 0.88,
            Ranking("average_precision"): 0.75,
        },
        hash=False,
    )
    """Factor of the draws' spread by kind of metric, at whatever threshold; one for others."""

    few: float = 4.0
    """The stretch fades as ``1 - few / M^2``: draws of one or two classifiers keep their spread."""

    edge: float = 1e-9
    """Least distance from the ends of the range on the logit scale."""


@dataclass(frozen=True)
class Constants:
    """All constants of `Auto`."""

    pool: PoolConstants = PoolConstants()
    independence: IndependenceConstants = IndependenceConstants()
    prior: PriorConstants = PriorConstants()
    model: ModelConstants = ModelConstants()
    sampler: SamplerConstants = SamplerConstants()
    correction: CorrectionConstants = CorrectionConstants()
    recentering: RecenteringConstants = RecenteringConstants()

    fit_rows: int = 20_000
    """Most labeled rows in the fit; with more the residual correction decides anyway."""

    world_rows: int = 5000
    """Most rows of a group on which worlds are computed."""

    batch_cells: int = 1 << 22
    """Cells (draws x rows x classes) held at once. The order in which a callable's label draws
    take random numbers follows it."""

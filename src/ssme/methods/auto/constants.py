"""Every number of ``auto`` that changes a result, in one frozen record.

`Auto.constants` is a `Constants`; each part of the method is handed the group it needs. To try
another value, replace it:

    from dataclasses import replace
    Auto(constants=replace(Constants(), pool=replace(PoolConstants(), clip=0.01)))

The origin of each value and what else was tried: benchmarks/evidence/auto.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ssme.methods.regression import SamplerConstants
from ssme.metrics.decisions import ACCURACY
from ssme.metrics.kinds import Calibration, Kind, Ranking


@dataclass(frozen=True)
class PoolConstants:
    """How the classifiers' scores become one score (`pool`)."""

    clip: float = 1e-4
    """Smallest score; smaller ones are raised to it."""

    label_power: float = 0.67
    """n labels count as n to this power in the weights of classifiers: classifiers err together,
    and are not exact models."""


@dataclass(frozen=True)
class AgreementConstants:
    """What agreement between classifiers says without labels (`pool`)."""

    offset: float = 0.55
    offset_few: float = -0.7
    """logit of a classifier's error minus logit of its disagreement with the others:
    ``offset + offset_few / M``."""

    copies: tuple[float, float] = (0.993, 0.998)
    """Correlations of log scores between which two classifiers turn into copies of one."""

    floor: float = 0.02
    """Least factor of a classifier's standing."""

    least_disagreement: float = 2e-3
    """Smaller disagreements count as this one."""

    rows: int = 5000
    """Rows looked at; of more rows, equally spaced ones."""

    tie: float = 1e-9
    """Votes closer than this are tied."""

    furthest: float = 3.0
    """Largest |log b| that agreement may imply."""

    halvings: int = 12
    """Halvings of that range: log b is found to 0.0015."""

    line: tuple[float, float, float, float] = (1.10, -0.35, -0.74, 0.26)
    """How far agreement is off: added to the log b that it implies are ``line[0] + line[1] / M +
    line[2] rho + line[3] logit d``, d the mean disagreement. `benchmarks.corpus.learn` fits it."""


@dataclass(frozen=True)
class RegimesConstants:
    """The regimes: how likely each is before anything is seen, and what differs in it."""

    prior: Mapping[str, float] = field(
        default_factory=lambda: {
            "usual": 0.61,
            "distorted": 0.35,
            "selected": 0.04,
        },
        hash=False,
    )
    """Probabilities before scores and labels are seen."""

    usual_conflict: float = 0.2
    """Scale of kappa over sets of real classifiers, where log b is known from the scores."""

    distorted_conflict: float = 0.9
    """Standard deviation of kappa where scores were distorted."""

    distorted_scale: float = 0.4
    """Scale of log b about the one that agreement implies."""

    selected_shift: float = 1.5
    """Least scale of the label intercepts where labels were chosen by class."""

    negligible: float = 0.005
    """Less likely regimes are left out."""

    sureness: float = 6.0
    """The estimate weighs regimes by their probabilities to this power."""

    least_weight: float = 0.03
    """Smaller weights in the estimate count as none."""

    sharing: float = 75.0
    """Labels at which a label counts half when draws are shared out over the regimes."""

    power: float = 0.6
    """Weight of a label in the draws of regimes other than the usual one."""

    widening: float = 1.75
    """Factor of their draws' spread."""


@dataclass(frozen=True)
class PriorConstants:
    """How sharp the pool is expected to be before a label is seen (`pool`).

    ``coefficients`` and ``scale`` were fitted in November 2026 to the development sets and to the
    part "fit" of the corpus: `benchmarks.corpus.learn` fits them again.
    """

    coefficients: tuple[float, float, float] = (-0.18, 0.70, 1.52)
    """ALPHA, BETA and GAMMA of the line that predicts log b."""

    knee: float = 0.02
    """Stated error beyond which vagueness says little more."""

    rarity: float = 0.5
    """A stated error counts in relation to that of the most frequent class, to this power."""

    correlated: tuple[float, float] = (0.4, 0.6)
    """Correlations rho between which this ceases; higher ones count as the second."""

    stated: tuple[float, float] = (0.007, 0.05)
    """Stated errors, in relation to chance, between which classifiers turn from ones that answer 0
    or 1, of which agreement alone says how sharp they are, to ones whose scores say it."""

    usual_rho: float = 0.38
    """Correlation rho where it is unknown: its mean over the panels."""

    scale: tuple[float, float, float] = (-0.90, 2.39, -2.12)
    """The scale of log b is ``exp(scale[0] + scale[1] / M + scale[2] rho)``."""

    widening: float = 1.6
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

    sd_c: float = 0.2
    """Weights of classifiers c."""

    sd_v: float = 0.35
    """Votes v."""

    chance: float = 2.0
    """Standard errors by which a class's share in the labeled rows may be off by chance."""


@dataclass(frozen=True)
class CorrectionConstants:
    """How far the labels correct the model (`correction`)."""

    bias: float = 0.075
    bias_growth: float = 0.33
    """Scale of the model's bias in standard errors of one label, in relation to tau, at 50 labels;
    and the power of the number of labels that it grows with."""

    noise: float = 0.9
    """Factor of the standard deviation of what remains unknown of the bias in the draws."""

    label_draws: int = 50
    """Label draws behind the residual and its variance."""

    strata: int = 5
    labels_a_stratum: int = 8
    """Where rows were chosen by score: most strata, and labels for each of them."""

    bias_labels: float = 423.0
    """Where rows were suggested: labels at random whose noise in a difference between classifiers
    is as large as the model's bias (`ssme.methods.suggested`)."""

    ranking_bias_labels: float = 300.0
    """The same for ROC AUC itself (`guess_bias`)."""

    influence_rows: int = 1000
    """Rows, besides the labeled ones, on which influences of labels are measured (`guess_bias`)."""


@dataclass(frozen=True)
class RecenteringConstants:
    """How the draws are moved onto the estimate (`correction`)."""

    kinds: tuple[Kind, ...] = (
        ACCURACY,
        Ranking("roc_auc"),
        Calibration(),
        Ranking("average_precision"),
    )
    """Kinds of metrics whose spread was calibrated, at whatever threshold; draws of others stay."""

    spread: tuple[float, float] = (0.44, 0.7)
    """Factors of their draws' spread: of what classifiers share, and of what is each one's own."""

    few: float = 1.0
    """Both are multiplied by ``exp(few / M)``."""

    rarity: float = 0.1
    """Those of ROC AUC and average precision also by one half over the share of the rarer class, to
    this power: its few rows decide them."""

    evenness: float = 0.6
    """Exponent of the singular values of what is each one's own."""

    pairs: float = 0.8
    """Factor by which differences are drawn towards the estimated one for P(better) and P(best),
    for those of these kinds that are better when larger."""

    best: float = 0.7
    """Exponent of the shares of draws in which classifiers are the best, for P(best)."""


@dataclass(frozen=True)
class Constants:
    """All constants of `Auto`."""

    pool: PoolConstants = PoolConstants()
    agreement: AgreementConstants = AgreementConstants()
    regimes: RegimesConstants = field(default_factory=RegimesConstants)
    prior: PriorConstants = PriorConstants()
    model: ModelConstants = ModelConstants()
    sampler: SamplerConstants = field(default_factory=SamplerConstants)
    correction: CorrectionConstants = CorrectionConstants()
    recentering: RecenteringConstants = RecenteringConstants()

    fit_rows: int = 20_000
    """Most labeled rows in the fit; with more the residual correction decides anyway."""

    world_rows: int = 5000
    """Most rows of a group on which worlds are computed."""

    batch_cells: int = 1 << 18
    """Cells (draws x rows x classes) in memory at once. The order in which a callable's label draws
    take random numbers follows it."""

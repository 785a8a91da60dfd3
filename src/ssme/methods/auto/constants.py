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
class AgreementConstants:
    """What agreement between classifiers says without labels (`pool`)."""

    offset: float = 0.55
    offset_few: float = -0.7
    """logit of a classifier's error minus logit of its disagreement with the others:
    ``offset + offset_few / M``."""

    offset_independent: float = -0.2
    """The same where errors are independent."""

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


@dataclass(frozen=True)
class IndependenceConstants:
    """How independent classifiers are distinguished from the usual ones (`pool`)."""

    usual_rho: tuple[float, float] = (0.38, 0.20)
    """Mean and standard deviation, over sets of real classifiers, of the correlation rho."""

    least_models: int = 3
    """Fewer classifiers than this are never taken for independent."""

    constant: float = 1e-6
    """Log-odds whose standard deviation is smaller do not vary."""

    least_class: float = 5.0
    """Expected rows below which a class is left out of rho."""


@dataclass(frozen=True)
class RegimesConstants:
    """The regimes: how likely each is before anything is seen, and what differs in it."""

    prior: Mapping[str, float] = field(
        default_factory=lambda: {
            "usual": 0.60,
            "distorted": 0.14,
            "shares": 0.08,
            "added": 0.06,
            "selected": 0.03,
            "stated": 0.09,
        },
        hash=False,
    )
    """Probabilities before scores and labels are seen."""

    usual_conflict: float = 0.2
    """Scale of kappa over sets of real classifiers, where log b is known from the scores."""

    distorted_conflict: float = 0.9
    """Standard deviation of kappa where scores were distorted."""

    distorted_scale: float = 0.25
    distorted_scale_few: float = 0.7
    """Scale of log b about the one that agreement implies: a constant, and a part by 1/M."""

    shares_shift: float = 0.55
    shares_scale: float = 0.4
    """Scales of the class shifts a and of log b where shares are off."""

    independent_rho: float = 0.08
    """Standard deviation of rho about zero where classifiers are independent."""

    added_scale: float = 0.4
    """Scale of log b where evidence adds up."""

    selected_shift: float = 1.5
    """Least scale of the label intercepts where labels were chosen by class."""

    stated_temperature: float = 0.12
    """Standard deviation of the log temperature of classifiers that are calibrated."""

    stated_tolerance: float = 0.03
    """Standard deviation beyond chance of accuracy minus mean confidence of such classifiers."""

    negligible: float = 0.005
    """Less likely regimes are left out."""

    sureness: float = 6.0
    """The estimate weighs regimes by their probabilities to this power."""

    least_weight: float = 0.03
    """Smaller weights in the estimate count as none."""

    sharing: float = 75.0
    """Labels at which a label counts half when draws are shared out over the regimes."""

    stated_leniency: tuple[float, float] = (6.0, 20.0)
    """How much of the labels' log evidence against the regime "stated" is overlooked when draws are
    shared out, and the number of labels up to which it is; with more labels it falls as the square
    of their number rises."""

    power: float = 0.6
    """Weight of a label in the draws of regimes other than the usual one."""

    widening: float = 1.75
    """Factor of their draws' spread."""

    conflict_widening: float = 1.6
    """Where agreement says vaguer than the scores do (kappa below zero), the usual regime's draws
    are wider by ``sqrt(1 + (conflict_widening kappa)^2)``."""

    answers_widening: float = 1.3
    """The same of the usual regime where classifiers answer 0 or 1."""


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

    least_error: float = 0.007
    """Classifiers that state a smaller error state none: they answer 0 or 1."""

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

    sd_r: float = 0.07
    """Shape of the calibration curve r."""

    sd_s: float = 0.08
    """Class-wise slopes s."""

    sd_d: float = 1.0
    """Label intercepts d, in units of ``log(1 + 1/(n p_k))``."""

    chance: float = 2.0
    """Standard errors by which a class's share in the labeled rows may be off by chance."""

    mode_families: tuple[str, ...] = ("a", "t")
    """Families of coefficients, besides log b and d, that the mode fits (a, t, c, v, r, s); the
    others are zero in it."""


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

    strata: int = 5
    labels_a_stratum: int = 8
    """Where rows were chosen by score: most strata, and labels for each of them."""

    bias_labels: float = 423.0
    """Where rows were suggested: labels at random whose noise in a difference between classifiers
    is as large as the model's bias (`correct_differences`)."""

    ranking_bias_labels: float = 300.0
    """The same for ROC AUC itself (`guess_bias`)."""

    influence_rows: int = 1000
    """Rows, besides the labeled ones, on which influences of labels are measured (`guess_bias`)."""


@dataclass(frozen=True)
class RecenteringConstants:
    """How the draws are moved onto the estimate (`correction`)."""

    spread: Mapping[Kind, tuple[float, float]] = field(
        default_factory=lambda: {
            ACCURACY: (0.405, 0.69),
            Ranking("roc_auc"): (0.37, 0.66),
            Calibration(): (0.43, 0.645),
            Ranking("average_precision"): (0.405, 0.67),
        },
        hash=False,
    )
    """Factors of the draws' spread by kind of metric, at whatever threshold: of what classifiers
    share, and of what is each one's own."""

    other_spread: tuple[float, float] = (1.0, 1.0)
    """The same for other kinds."""

    evenness: float = 0.6
    """Exponent of the singular values of what is each one's own, for the kinds above."""

    pairs: Mapping[Kind, float] = field(
        default_factory=lambda: {
            ACCURACY: 0.85,
            Ranking("roc_auc"): 0.7,
            Ranking("average_precision"): 0.7,
        },
        hash=False,
    )
    """Factors by which differences are drawn towards the estimated one for P(better) and P(best),
    by kind of metric; one for other kinds."""

    best: float = 0.7
    """Exponent of the shares of draws in which classifiers are the best, for P(best)."""

    few: float = 20.0
    """All of this fades as ``1 - few / M^3``: draws of one or two classifiers keep their spread."""

    edge: float = 1e-9
    """Least distance from the ends of the range on the logit scale."""


@dataclass(frozen=True)
class Constants:
    """All constants of `Auto`."""

    pool: PoolConstants = PoolConstants()
    agreement: AgreementConstants = AgreementConstants()
    regimes: RegimesConstants = field(default_factory=RegimesConstants)
    independence: IndependenceConstants = IndependenceConstants()
    prior: PriorConstants = PriorConstants()
    model: ModelConstants = ModelConstants()
    sampler: SamplerConstants = field(default_factory=SamplerConstants)
    correction: CorrectionConstants = CorrectionConstants()
    recentering: RecenteringConstants = RecenteringConstants()

    fit_rows: int = 20_000
    """Most labeled rows in the fit; with more the residual correction decides anyway."""

    world_rows: int = 5000
    """Most rows of a group on which worlds are computed."""

    batch_cells: int = 1 << 22
    """Cells (draws x rows x classes) in memory at once. The order in which a callable's label draws
    take random numbers follows it."""

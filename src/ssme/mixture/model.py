"""The semi-supervised mixture P(y, s) = P(y) P(s | y): options, the two presets, one fit.

``paper``: as the paper says. Gaussian KDE with the improved Sheather-Jones bandwidth on the
pooled rows, EM to convergence (at most 1000 steps) from the class shares of the labels, labeled
rows fixed to their label.
``public_code``: as the paper's public code does. A quarter of the normal-reference bandwidth and
20 steps. In the first step every row weighs the same and labeled rows have their label; from the
second step on labeled rows weigh ten times and follow the fitted posterior. The priors of a step
are the class shares of one random assignment in which labeled rows have their label. Only exact 0
and 1 are clipped, at 1e-4.

Both presets are a KDE; `ssme.mixture.choice` has the other densities.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.densities.base import ClassDensities, FloatArray
from ssme.errors import InputError, make_unknown_name_error
from ssme.mixture.choice import DensityChoice, choose_density, make_densities
from ssme.mixture.em import EmFit, EmRules, compute_posterior, run_em
from ssme.mixture.start import STARTS, draw_start, start_by_neighbors

__all__ = [
    "PRESETS",
    "MixtureFit",
    "MixtureOptions",
    "choose_preset_options",
    "fit_mixture",
    "refit_responsibilities",
]


@dataclass(frozen=True)
class MixtureOptions(EmRules):
    """Every choice of the SSME fit beside the rules of EM; `PRESETS` names two full sets of them.

    ``refit_steps`` are those of a bootstrap refit; the public code's whole fit takes as many.
    """

    density: str = "kde"
    kernel: str = "gaussian"
    bandwidth: str | float = "isj"
    across: str = "smallest"
    covariance: str = "full"
    components: int = 1
    device: str | None = None
    init: str = "draw"
    clip: float = 1e-6
    clip_only_exact: bool = False
    n_neighbors: int = 5
    refit_steps: int = 20
    kde_dims: int = 20
    flow_rows_per_dim: int = 10


PRESETS: dict[str, MixtureOptions] = {
    "paper": MixtureOptions(),
    "public_code": MixtureOptions(
        bandwidth="public_code",
        max_iter=20,
        tol=None,
        labeled_weight=10.0,
        weighted_from=2,
        clamp=False,
        label_priors=False,
        drawn_priors=True,
        clip=1e-4,
        clip_only_exact=True,
    ),
}


TO_CHOOSE = (
    *("density", "kernel", "bandwidth", "across", "covariance", "components", "device"),
    *("init", "lambda_u", "max_iter", "tol", "clip"),
)
"""Options that users may choose; None stands for what the preset says."""


def read_options(chosen: Any, **overrides: Any) -> MixtureOptions:
    """The preset of ``chosen`` with the options that it has as attributes, and the overrides."""
    given = {name: getattr(chosen, name) for name in TO_CHOOSE}
    return choose_preset_options(chosen.preset, **{**given, **overrides})


def choose_preset_options(preset: str, **overrides: Any) -> MixtureOptions:
    """The options of ``preset``, those given (not None) in its place."""
    if preset not in PRESETS:
        raise make_unknown_name_error("preset", preset, PRESETS)
    given = {name: value for name, value in overrides.items() if value is not None}
    options = replace(PRESETS[preset], **given)
    if options.init not in STARTS:
        raise make_unknown_name_error("init", options.init, STARTS)
    if not (np.isfinite(options.lambda_u) and options.lambda_u > 0):
        raise InputError(f"lambda_u is {options.lambda_u!r}", allowed="a number > 0")
    if options.max_iter < 1:
        raise InputError(f"max_iter is {options.max_iter!r}", allowed="an integer >= 1")
    return options


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """The fitted mixture: EM's end and the densities it ended with."""

    em: EmFit
    densities: ClassDensities
    choice: DensityChoice

    def compute_posterior_at(self, points: FloatArray) -> FloatArray:
        """P(y | s) (m, K) of other rows ``points`` (m, d)."""
        return compute_posterior(self.densities.at(points), self.em.priors)[0]

    def describe(self) -> dict[str, Any]:
        """Facts for the result's notes."""
        return {
            "converged": self.em.converged,
            "n_iter": self.em.n_iter,
            "objective_history": self.em.objective_history,
            "priors": self.em.priors,
            "density": self.choice.density,
            "density_reason": self.choice.reason,
            **self.densities.describe(),
        }


def fit_mixture(
    points: FloatArray,
    labels: NDArray[np.int64],
    guess: FloatArray,
    options: MixtureOptions,
    rng: np.random.Generator,
    sample_weight: FloatArray | None = None,
) -> MixtureFit:
    """Fit P(y, s) to ``points`` (n, d), NaN where missing.

    ``labels`` (n,) are -1 where unknown; ``guess`` (n, K) are the probabilities that
    ``init="draw"`` draws from.
    """
    if options.init == "draw":
        start = draw_start(guess, rng)
    else:
        start = start_by_neighbors(points, labels, guess.shape[1], options.n_neighbors)
    choice = choose_density(
        options.density,
        options.covariance,
        points,
        kde_dims=options.kde_dims,
        flow_rows_per_dim=options.flow_rows_per_dim,
    )
    densities = make_densities(choice, points, labels, start, options, rng, sample_weight)
    em = run_em(densities, start, labels, options, rng, sample_weight)
    return MixtureFit(em, densities, choice)


def refit_responsibilities(
    fitted: MixtureFit,
    points: FloatArray,
    labels: NDArray[np.int64],
    guess: FloatArray,
    options: MixtureOptions,
    rng: np.random.Generator,
    sample_weight: FloatArray | None = None,
) -> FloatArray:
    """Responsibilities (n, K) of a fit to rows reweighted by the Bayesian bootstrap.

    Kernels, bandwidth and flow of ``fitted`` are kept; start, priors and class densities are new
    (weighted-likelihood bootstrap: Newton and Raftery, JRSS B 56, 1994).
    """
    weights = rng.standard_exponential(len(labels))
    if sample_weight is not None:
        weights *= sample_weight
    start = (
        draw_start(guess, rng)
        if options.init == "draw"
        else start_by_neighbors(points, labels, guess.shape[1], options.n_neighbors)
    )
    rules = replace(options, max_iter=min(options.max_iter, options.refit_steps), tol=None)
    densities = copy(fitted.densities)
    return run_em(densities, start, labels, rules, rng, weights).responsibilities

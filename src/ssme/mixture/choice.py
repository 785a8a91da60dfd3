"""Which density models P(s | y): by name, or chosen by size and dimension with the reason kept.

``kde_dims`` is where kernels stop being a density estimate: with n = 1,000 rows in more dimensions
than that, each point's own kernel outweighs all others at any sensible bandwidth, and EM keeps its
first guess. On cifar10 (81 dimensions) a flow or full Gaussians err by 1.0 points of accuracy where
the KDE errs by 1.8; on civilcomments (7) and multinli (8) the KDE errs least
(benchmarks/results/densities.csv). Beyond ``kde_dims`` a flow needs at least
``flow_rows_per_dim`` rows per dimension, complete rows, and torch; where one of these is missing,
Gaussians take its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.densities.bandwidth import select_bandwidth
from ssme.densities.base import ClassDensities, FloatArray
from ssme.densities.gaussian_mixture import GaussianClasses
from ssme.densities.kde import KdeClasses
from ssme.engines.kernels import choose_kernel_sums
from ssme.errors import InputError, make_unknown_name_error

__all__ = ["DENSITIES", "DensityChoice", "choose_density", "make_densities"]

DENSITIES = ("kde", "gmm", "flow", "auto")


@dataclass(frozen=True)
class DensityChoice:
    """A density, its covariance where it has one, and why it was taken."""

    density: str
    covariance: str
    reason: str


def choose_density(
    density: str,
    covariance: str,
    points: FloatArray,
    *,
    kde_dims: int = 20,
    flow_rows_per_dim: int = 10,
) -> DensityChoice:
    """``density`` as asked for; for "auto", by the shape of ``points`` (n, d)."""
    if density not in DENSITIES:
        raise make_unknown_name_error("density", density, DENSITIES)
    if density != "auto":
        return DensityChoice(density, covariance, "asked for")
    n, d = points.shape
    if d <= kde_dims:
        return DensityChoice("kde", covariance, f"{d} dimensions, at most {kde_dims}")
    wide = f"{d} dimensions, more than {kde_dims}"
    if n < flow_rows_per_dim * d:
        return DensityChoice("gmm", covariance, f"{wide}, and {n} rows, too few for a flow")
    if np.isnan(points).any():
        return DensityChoice("gmm", covariance, f"{wide}, and scores are missing")
    if find_spec("torch") is None:
        return DensityChoice(
            "gmm", covariance, f"{wide}, and torch (extra `flow`) is not installed"
        )
    return DensityChoice("flow", covariance, f"{wide}, and {n} rows")


def make_densities(
    choice: DensityChoice,
    points: FloatArray,
    labels: NDArray[np.int64],
    start: FloatArray,
    options: Any,
    rng: np.random.Generator,
    sample_weight: FloatArray | None,
) -> ClassDensities:
    """The class densities over ``points``, ready for EM; ``options`` are `MixtureOptions`."""
    if choice.density == "gmm":
        _refuse_device(options.device, "gmm")
        return GaussianClasses(points, choice.covariance, components=options.components, rng=rng)
    if choice.density == "flow":
        from ssme.densities.flow import FlowClasses

        return FlowClasses(
            points, labels, start, rng, sample_weight=sample_weight, device=options.device
        )
    bandwidth = select_bandwidth(
        points, options.bandwidth, across=options.across, weights=sample_weight
    )
    engine = partial(choose_kernel_sums, device=options.device)
    return KdeClasses(points, bandwidth, options.kernel, engine)


def _refuse_device(device: str | None, density: str) -> None:
    if device is not None:
        raise InputError(
            f"device={device!r} with density {density!r}",
            allowed="a device for the densities 'kde' and 'flow'",
            fix="leave device out: this density is linear in the rows",
        )

"""RealNVP with a Gaussian-mixture base: invertible, a density, learns what a Gaussian cannot."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from ssme.errors import InputError
from ssme.mixture.gaussian_mixture import GaussianClasses

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from ssme.mixture.flow import (  # noqa: E402
    FlowClasses,
    RealNvp,
    Training,
    seed_torch,
)


def bananas(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two bent classes: x ~ N(0, 1), y = +-(x^2 - 1.5) + noise."""
    labels = rng.integers(0, 2, n)
    x = rng.normal(size=n)
    y = np.where(labels == 1, 1.0, -1.0) * (x**2 - 1.5) + 0.4 * rng.normal(size=n)
    return np.stack([x, y], axis=1), labels


def fitted(n: int = 400, epochs: int = 30, scale: float = 1.0) -> tuple[FlowClasses, np.ndarray]:
    rng = np.random.default_rng(0)
    training = Training(epochs=epochs, batch_size=100, learning_rate=5e-3)
    points, labels = bananas(n, rng)
    observed = np.where(np.arange(n) < n // 2, labels, -1)
    start = np.eye(2)[np.where(rng.random(n) < 0.85, labels, 1 - labels)]
    flow = FlowClasses(scale * points, observed, start, rng, layers=6, hidden=32, training=training)
    flow.update(start)
    return flow, points


@pytest.fixture(scope="module")
def flow_and_points() -> tuple[FlowClasses, np.ndarray]:
    return fitted()


def test_forward_and_inverse_undo_each_other() -> None:
    with seed_torch(0):
        flow = RealNvp(5, layers=6, hidden=16).double()
        for network in flow.networks:
            torch.nn.init.normal_(network[-1].weight, std=0.3)
        x = torch.randn(50, 5, dtype=torch.float64)
    z, log_det = flow(x)
    assert (z - x).abs().max() > 0.1
    torch.testing.assert_close(flow.invert(z), x)
    jacobian = torch.autograd.functional.jacobian(lambda row: flow(row[None])[0][0], x[3])
    torch.testing.assert_close(torch.linalg.slogdet(jacobian).logabsdet, log_det[3])


def test_each_class_density_integrates_to_one(flow_and_points) -> None:
    flow, _ = flow_and_points
    axis = np.linspace(-12, 12, 301)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    mass = np.exp(flow.at(grid)).sum(axis=0) * (axis[1] - axis[0]) ** 2
    np.testing.assert_allclose(mass, 1.0, atol=0.02)


def test_it_fits_bent_classes_better_than_gaussians(flow_and_points) -> None:
    flow, points = flow_and_points
    fresh, labels = bananas(2000, np.random.default_rng(9))
    plain = GaussianClasses(points)
    rng = np.random.default_rng(0)
    _, own = bananas(len(points), rng)
    plain.update(np.eye(2)[own])
    of_true_class = (np.arange(len(fresh)), labels)
    assert flow.at(fresh)[of_true_class].mean() > plain.at(fresh)[of_true_class].mean() + 0.2


def test_one_dimension_works() -> None:
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(-2, 1, 100), rng.normal(2, 1, 100)])[:, None]
    labels = np.repeat([0, 1], 100)
    start = np.eye(2)[labels]
    flow = FlowClasses(points, labels, start, rng, training=Training(epochs=3))
    assert np.isfinite(flow.update(start)).all()


def test_without_patience_all_epochs_train() -> None:
    rng = np.random.default_rng(0)
    points = np.full((30, 2), 1.0) + 1e-3 * rng.standard_normal((30, 2))
    start = np.eye(2)[np.arange(30) % 2]
    training = Training(epochs=40, patience=None)
    flow = FlowClasses(points, np.full(30, -1), start, rng, training=training)
    assert flow.describe()["flow_epochs"] == 40


def test_missing_scores_and_missing_gpu_are_refused() -> None:
    points, labels = bananas(20, np.random.default_rng(0))
    start, rng = np.eye(2)[labels], np.random.default_rng(0)
    holed = points.copy()
    holed[4, 1] = np.nan
    with pytest.raises(InputError, match=r"row 4 .*coordinate 1"):
        FlowClasses(holed, labels, start, rng)
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="sees no NVIDIA GPU"):
            FlowClasses(points, labels, start, rng, device="cuda")


def test_rows_and_other_points_have_one_density_and_a_scale_is_taken_out(flow_and_points) -> None:
    flow, points = flow_and_points
    flow = copy(flow)
    weights = np.random.default_rng(1).dirichlet([1.0, 1.0], len(points))
    np.testing.assert_allclose(flow.update(weights), flow.at(points), atol=1e-5)
    one, points = fitted(60, epochs=2)
    ten, _ = fitted(60, epochs=2, scale=10.0)
    expected = one.at(points) - 2.0 * np.log(10.0)
    np.testing.assert_allclose(ten.at(10.0 * points), expected, atol=1e-3)

"""Every kernel engine against the same ten-line slow oracle."""

import numpy as np
import pytest

from ssme.errors import InputError
from ssme.mixture import kernels
from ssme.mixture.kernels import (
    ERROR,
    KERNELS,
    DenseKernel,
    SparseKernel,
    TiledKernel,
    choose_kernel_sums,
    find_radius,
)


def torch_cpu(kernel, points, queries):
    torch = pytest.importorskip("torch")
    from ssme.mixture.kernels import TorchKernel

    return TorchKernel(kernel, points, queries, torch.device("cpu"))


ENGINES = {"dense": DenseKernel, "tiled": TiledKernel, "sparse": SparseKernel, "torch": torch_cpu}
TOLERANCE = {"sparse": 1e-6}


def slow_log_sums(kernel, points, queries, weights):
    out = np.full((len(queries), weights.shape[1]), -np.inf)
    for i, q in enumerate(queries):
        for x, w in zip(points, weights, strict=True):
            r = np.linalg.norm(q - x)
            log_k = {"gaussian": -(r**2) / 2, "exponential": -r}.get(kernel)
            if log_k is None:
                log_k = np.log(1 - r**2) if r < 1 else -np.inf
            for c in np.flatnonzero(w):
                out[i, c] = np.logaddexp(out[i, c], log_k + np.log(w[c]))
    return out


def case(seed, *, scale=1.0, n=70, m=23, d=3):
    rng = np.random.default_rng(seed)
    weights = rng.random((n, 2))
    weights[rng.random((n, 2)) < 0.3] = 0.0
    return scale * rng.normal(size=(n, d)), scale * rng.normal(size=(m, d)), weights


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [0.3, 3.0, 300.0, 1e8])
def test_engine_equals_slow_sum(engine, kernel, scale, monkeypatch) -> None:
    monkeypatch.setattr(kernels, "QUERY_TILE", 7)
    monkeypatch.setattr(kernels, "POINT_TILE", 16)
    points, queries, weights = case(0, scale=scale)
    got = ENGINES[engine](kernel, points, queries).log_sums(weights)
    np.testing.assert_allclose(
        got,
        slow_log_sums(kernel, points, queries, weights),
        rtol=TOLERANCE.get(engine, 1e-9),
        atol=TOLERANCE.get(engine, 1e-9),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_relative_sums_keep_what_a_posterior_needs(engine) -> None:
    points = np.array([[0.0], [60.0], [500.0]])
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    got = ENGINES[engine]("gaussian", points, points).log_sums(weights, relative=True)
    np.testing.assert_array_equal(got[0], [0.0, -np.inf])
    np.testing.assert_allclose(got[2], [-0.5 * 500**2, -0.5 * 440**2])


@pytest.mark.parametrize("scale", [1.0, 8.0])
def test_on_a_line_the_factored_sums_keep_the_posterior(scale) -> None:
    points, _, weights = case(4, scale=scale, n=400, d=1)
    engine = DenseKernel("gaussian", points, points)
    assert engine._factor is not None
    got, exact = engine.log_sums(weights, relative=True), engine.log_sums(weights)
    posterior, expected = (np.exp(s - np.logaddexp(*s.T)[:, None]) for s in (got, exact))
    np.testing.assert_allclose(posterior, expected, atol=1e-8)


def test_mostly_small_kernel_is_kept_sparse_with_the_same_sums() -> None:
    points, _, weights = case(3, scale=500.0, n=200)
    engine = DenseKernel("gaussian", points, points)
    assert engine.name == "dense, small entries dropped"
    np.testing.assert_allclose(
        engine.log_sums(weights), slow_log_sums("gaussian", points, points, weights), atol=1e-9
    )


def test_engine_is_chosen_by_size(monkeypatch) -> None:
    points, queries, _ = case(2)
    assert isinstance(choose_kernel_sums("gaussian", points, queries), DenseKernel)
    monkeypatch.setattr(kernels, "DENSE_BYTES", 100)
    assert isinstance(choose_kernel_sums("gaussian", points, queries), TiledKernel)
    assert isinstance(choose_kernel_sums("gaussian", 100 * points, queries), SparseKernel)


def test_sparse_radius_keeps_posteriors_within_the_stated_error() -> None:
    rng = np.random.default_rng(4)
    points = 6.0 * rng.normal(size=(3000, 3))
    weights = rng.dirichlet([0.5, 0.5], size=3000)
    assert np.exp(-0.5 * find_radius("gaussian", 3000) ** 2) == pytest.approx(ERROR / 3000)
    sums = {
        engine: np.exp(ENGINES[engine]("gaussian", points, points).log_sums(weights, relative=True))
        for engine in ("tiled", "sparse")
    }
    posterior = {engine: s / s.sum(axis=1, keepdims=True) for engine, s in sums.items()}
    assert np.abs(posterior["sparse"] - posterior["tiled"]).max() < ERROR


@pytest.mark.torch
def test_device_chooses_torch_and_a_missing_gpu_is_an_error() -> None:
    torch = pytest.importorskip("torch")
    points, queries, _ = case(5)
    engine = choose_kernel_sums("gaussian", points, queries, device="cpu")
    assert engine.name == "torch cpu"
    with pytest.raises(InputError, match="device must"):
        choose_kernel_sums("gaussian", points, queries, device="gpu")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="sees no NVIDIA GPU"):
            choose_kernel_sums("gaussian", points, queries, device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("scale", [0.3, 3.0, 40.0])
def test_triton_equals_slow_sum_where_there_is_a_gpu(scale) -> None:
    points, queries, weights = case(0, scale=scale)
    engine = choose_kernel_sums("gaussian", points, queries, device="cuda")
    assert engine.name.startswith("triton")
    np.testing.assert_allclose(
        engine.log_sums(weights), slow_log_sums("gaussian", points, queries, weights), atol=1e-4
    )

import numpy as np
import pytest

from ssme.errors import InputError
from ssme.transforms.alr import alr, clip_simplex, invert_alr, log_abs_det_jacobian, stack_alr


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_round_trip(n_classes: int) -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=50)
    np.testing.assert_allclose(invert_alr(alr(p)), p, atol=1e-14)


def test_binary_is_the_logit() -> None:
    p = np.array([[0.2, 0.8], [0.9, 0.1]])
    np.testing.assert_allclose(alr(p)[:, 0], np.log(p[:, 0] / (1 - p[:, 0])))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_jacobian_against_differences(n_classes: int) -> None:
    p = np.random.default_rng(1).dirichlet(3 * np.ones(n_classes))
    step = 1e-6
    columns = []
    for k in range(n_classes - 1):
        moved = np.zeros(n_classes)
        moved[k], moved[-1] = step, -step
        columns.append((alr(p + moved) - alr(p - moved)) / (2 * step))
    numeric = np.linalg.slogdet(np.stack(columns))[1]
    np.testing.assert_allclose(log_abs_det_jacobian(p), numeric, rtol=1e-6)


def test_inverse_far_out_is_finite() -> None:
    p = invert_alr(np.array([[800.0, -800.0], [-800.0, -800.0]]))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.isfinite(p).all()


def test_clip_floors_and_renormalizes() -> None:
    p = np.array([[0.0, 1.0], [1e-9, 1 - 1e-9], [0.3, 0.7]])
    clipped = clip_simplex(p, 1e-6)
    np.testing.assert_allclose(clipped.sum(axis=1), 1.0)
    np.testing.assert_allclose(clipped[:2, 0], 1e-6, rtol=1e-5)
    np.testing.assert_array_equal(clipped[2], p[2])


def test_clip_of_exact_zeros_only() -> None:
    p = np.array([[0.0, 1.0], [1e-9, 1 - 1e-9]])
    clipped = clip_simplex(p, 1e-4, only_exact=True)
    np.testing.assert_allclose(clipped[0, 0], 1e-4, rtol=1e-3)
    np.testing.assert_allclose(clipped[1, 0], 1e-9)


@pytest.mark.parametrize("eps", [0.0, 0.5, -1.0])
def test_clip_refuses_impossible_eps(eps: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1/2"):
        clip_simplex(np.array([[0.5, 0.5]]), eps)


def test_stack_keeps_missing_models_missing() -> None:
    scores = np.full((2, 2, 3), 1 / 3)
    scores[0, 1] = np.nan
    points = stack_alr(scores)
    assert points.shape == (2, 4)
    np.testing.assert_array_equal(np.isnan(points[0]), [False, False, True, True])

"""One RealNVP flow, a Gaussian per class as base: p(s|k) = N(f(s) | mu_k, Sigma_k) |det df/ds|.

Two phases, as in the paper: the Gaussians are fixed to those of the standardized scores under the
first guess of the labels while the flow is trained (300 epochs); then the flow is fixed and EM
runs on the Gaussians in its latent space (700 epochs; here, `run_em` until it converges). The
paper's formula also multiplies by p(y = k); the EM loop does that.

The paper leaves optimizer, batches and regularization open; `ssme.mixture.flow.Training` has
ours. Early stopping is ours too: without it 10 layers of 128 units memorize 1,000 rows.

Source: Shanmugam et al. 2025, app. "Alternate parameterizations"; Izmailov et al., "Semi-supervised
learning with normalizing flows", ICML 2020. Needs the extra `flow`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from ssme.arrays import FloatArray, IntArray
from ssme.errors import InputError
from ssme.executors import choose_torch_device
from ssme.mixture.gaussian_mixture import GaussianClasses, Normal


class FlowClasses:
    """P(s | y = k) by one flow and a Gaussian per class; see `ssme.mixture.kde`.

    ``start`` (n, K) is a first guess of the labels, which fixes the Gaussians that the flow is
    trained to. ``layers`` and ``hidden`` are coupling layers and units of their hidden layers.
    """

    def __init__(
        self,
        points: FloatArray,
        labels: IntArray,
        start: FloatArray,
        rng: np.random.Generator,
        *,
        sample_weight: FloatArray | None = None,
        layers: int = 10,
        hidden: int = 128,
        training: Training | None = None,
        device: str | None = None,
    ) -> None:
        if np.isnan(points).any():
            row, column = np.argwhere(np.isnan(points))[0]
            problem = f"density 'flow' needs every score, and row {row} lacks coordinate {column}"
            hint = "use `density='gmm'` or `density='kde'`, or drop rows with missing scores"
            raise InputError(problem, hint=hint)
        self._device = choose_torch_device(device, "density 'flow'")
        spread = points.std(axis=0)
        self._mean, self._scale = points.mean(axis=0), np.where(spread > 0, spread, 1.0)
        weight = np.ones(len(points)) if sample_weight is None else sample_weight
        possible = np.ones_like(start)
        known = labels >= 0
        possible[known] = np.eye(start.shape[1])[labels[known]]
        first = np.where(known[:, None], possible, start) * weight[:, None]

        scaled = self._standardize(points)
        gaussians = GaussianClasses(scaled)
        gaussians.update(first)
        seed = int(rng.integers(2**31))
        with seed_torch(seed):
            self._flow = RealNvp(points.shape[1], layers, hidden).to(self._device)
        self._base = MixtureBase(gaussians.list_normals(), first.sum(axis=0) / first.sum())
        self._base = self._base.to(self._device)
        rules = training or Training()
        with use_one_thread():
            self._epochs = train(self._flow, self._base, scaled, possible, weight, rules, seed)
        latent, self._log_det = self._push(points)
        self._gaussians = gaussians.move_to(latent)
        self._fresh = True

    def update(self, weights: FloatArray) -> FloatArray:
        """Refit the Gaussians to ``weights``; log densities (n, K) at the rows.

        The first call answers with the Gaussians that the flow was trained to, so that EM starts
        from them.
        """
        if self._fresh:
            self._fresh = False
            return self._gaussians.at(self._gaussians.points) + self._log_det[:, None]
        self._gaussians = copy.copy(self._gaussians)
        return self._gaussians.update(weights) + self._log_det[:, None]

    def at(self, points: FloatArray) -> FloatArray:
        latent, log_det = self._push(points)
        return self._gaussians.at(latent) + log_det[:, None]

    def describe(self) -> dict[str, Any]:
        return {
            "flow_layers": len(self._flow.networks),
            "flow_epochs": self._epochs,
            "engine": f"torch on {self._device}",
        }

    def _standardize(self, points: FloatArray) -> FloatArray:
        return (points - self._mean) / self._scale

    def _push(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Latent z (m, d) and log |det dz/ds| (m,) in float64."""
        x = torch.as_tensor(self._standardize(points), dtype=torch.float32, device=self._device)
        with torch.no_grad():
            z, log_det = self._flow(x)
        to_scaled = np.log(self._scale).sum()
        return z.double().cpu().numpy(), log_det.double().cpu().numpy() - to_scaled


# -------------------------------------------------------------------------------------------------
# RealNVP: an invertible map z = f(x) with a cheap Jacobian, on torch (extra `flow`).
#
# A coupling layer keeps the coordinates of its mask b and moves the others,
#
#     y = b x + (1 - b) (x exp(s(b x)) + t(b x)),      log |det| = sum (1 - b) s(b x),
#
# s and t being the two halves of one network of fully connected layers; masks alternate between
# odd and even coordinates. Log-scales are bounded by a tanh, and the last layer starts at zero, so
# an untrained flow is the identity.
#
# Source: Dinh, Sohl-Dickstein, Bengio, "Density estimation using Real NVP", ICLR 2017.


LOG_SCALE_BOUND = 2.0


@dataclass(frozen=True)
class Training:
    """How the flow is trained: at most ``epochs`` passes in batches, by Adam.

    The rows of ``holdout`` (a share) judge; training ends when they have not improved for
    ``patience`` epochs, and the best epoch's flow is kept. Without ``patience`` all rows train
    for all epochs, and the last flow is kept.
    """

    epochs: int = 300
    batch_size: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    holdout: float = 0.1
    patience: int | None = 30


class RealNvp(nn.Module):  # type: ignore[misc]
    """``layers`` coupling layers of networks with three fully connected layers each."""

    def __init__(self, n_dims: int, layers: int = 10, hidden: int = 128) -> None:
        super().__init__()
        odd = torch.arange(n_dims) % 2
        masks = torch.stack([(odd + layer) % 2 for layer in range(layers)]).to(torch.float32)
        self.register_buffer("masks", masks)
        self.networks = nn.ModuleList(_make_network(n_dims, hidden) for _ in range(layers))

    def forward(self, x: Any) -> tuple[Any, Any]:
        """z (n, d) and log |det dz/dx| (n,)."""
        log_det = torch.zeros(len(x), dtype=x.dtype, device=x.device)
        for mask, network in zip(self.masks, self.networks, strict=True):
            log_scale, shift = _predict_scale_and_shift(network, x, mask)
            x = mask * x + (1.0 - mask) * (x * torch.exp(log_scale) + shift)
            log_det = log_det + log_scale.sum(dim=1)
        return x, log_det

    def invert(self, z: Any) -> Any:
        """The x (n, d) that `forward` maps to ``z``."""
        for mask, network in zip(reversed(self.masks), reversed(self.networks), strict=True):
            log_scale, shift = _predict_scale_and_shift(network, z, mask)
            z = mask * z + (1.0 - mask) * ((z - shift) * torch.exp(-log_scale))
        return z


def _make_network(n_dims: int, hidden: int) -> Any:
    last = nn.Linear(hidden, 2 * n_dims)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(
        nn.Linear(n_dims, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), last
    )


def _predict_scale_and_shift(network: Any, x: Any, mask: Any) -> tuple[Any, Any]:
    raw, shift = network(mask * x).chunk(2, dim=1)
    bounded = LOG_SCALE_BOUND * torch.tanh(raw / LOG_SCALE_BOUND)
    return (1.0 - mask) * bounded, (1.0 - mask) * shift


class MixtureBase(nn.Module):  # type: ignore[misc]
    """log pi_k N(z | mu_k, Sigma_k) of a fixed Gaussian mixture."""

    def __init__(self, normals: Sequence[Normal], priors: FloatArray) -> None:
        super().__init__()
        lowers = [np.linalg.cholesky(normal.covariance) for normal in normals]
        n_dims = len(normals[0].mean)
        with np.errstate(divide="ignore"):
            constants = np.log(priors) - 0.5 * n_dims * np.log(2.0 * np.pi)
        constants -= [np.log(np.diag(lower)).sum() for lower in lowers]
        for name, values in (
            ("means", np.stack([normal.mean for normal in normals])),
            ("whiteners", np.stack([np.linalg.inv(lower).T for lower in lowers])),
            ("constants", constants),
        ):
            self.register_buffer(name, torch.as_tensor(values, dtype=torch.float32))

    def forward(self, z: Any) -> Any:
        """(n, K)."""
        white = torch.einsum("nkd,kde->nke", z[:, None, :] - self.means, self.whiteners)
        return self.constants - 0.5 * white.square().sum(dim=2)


def train(
    flow: RealNvp,
    base: MixtureBase,
    points: FloatArray,
    possible: FloatArray,
    weights: FloatArray,
    rules: Training,
    seed: int,
) -> int:
    """Fit the flow to ``points`` (n, d), the base fixed; the number of epochs it took.

    Minimizes -sum_i w_i log sum_k possible_ik pi_k p(x_i | k): ``possible`` (n, K) is one-hot for
    a labeled row and all ones for an unlabeled one.
    """
    device = base.means.device
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(points))
    n_held = 0 if rules.patience is None else max(1, round(rules.holdout * len(points)))
    data = [torch.as_tensor(a, dtype=torch.float32, device=device) for a in (points, weights)]
    with np.errstate(divide="ignore"):
        data.append(torch.as_tensor(np.log(possible), dtype=torch.float32, device=device))

    def compute_loss(rows: Any) -> Any:
        x, weight, log_possible = (values[rows] for values in data)
        z, log_det = flow(x)
        log_prob = torch.logsumexp(base(z) + log_possible, dim=1) + log_det
        return -(weight * log_prob).sum() / weight.sum()

    held = torch.as_tensor(order[:n_held], device=device)
    kept = order[n_held:]
    adam = torch.optim.Adam(
        flow.parameters(), lr=rules.learning_rate, weight_decay=rules.weight_decay
    )
    best, best_epoch, best_state = np.inf, 0, copy.deepcopy(flow.state_dict())
    for epoch in range(1, rules.epochs + 1):
        shuffled = torch.as_tensor(rng.permutation(kept), device=device)
        for rows in shuffled.split(rules.batch_size):
            adam.zero_grad(set_to_none=True)
            compute_loss(rows).backward()
            adam.step()
        if rules.patience is None:
            continue
        with torch.no_grad():
            judged = float(compute_loss(held))
        if judged < best:
            best, best_epoch, best_state = judged, epoch, copy.deepcopy(flow.state_dict())
        if epoch - best_epoch >= rules.patience:
            break
    if rules.patience is not None:
        flow.load_state_dict(best_state)
    return epoch


@contextmanager
def seed_torch(seed: int) -> Iterator[None]:
    """Torch's global generator at ``seed`` inside, as it was outside."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def use_one_thread() -> Iterator[None]:
    """One torch thread inside: layers this small lose more to threads than they gain."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

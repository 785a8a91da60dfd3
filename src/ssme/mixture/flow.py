"""One RealNVP flow, a Gaussian per class as base: p(s|k) = N(f(s) | mu_k, Sigma_k) |det df/ds|.

Two phases, as in the paper: the Gaussians are fixed to those of the standardized scores under the
first guess of the labels while the flow is trained (300 epochs); then the flow is fixed and EM
runs on the Gaussians in its latent space (700 epochs; here, `run_em` until it converges). The
paper's formula also multiplies by p(y = k); the EM loop does that.

The paper leaves optimizer, batches and regularization open; `ssme.mixture.realnvp.Training` has
ours. Early stopping is ours too: without it 10 layers of 128 units memorize 1,000 rows.

Source: Shanmugam et al. 2025, app. "Alternate parameterizations"; Izmailov et al., "Semi-supervised
learning with normalizing flows", ICML 2020. Needs the extra `flow`.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ssme.engines.executors import choose_torch_device, import_torch
from ssme.errors import InputError
from ssme.mixture.gaussian_mixture import GaussianClasses
from ssme.mixture.kde import FloatArray

if TYPE_CHECKING:
    from ssme.mixture.realnvp import Training


class FlowClasses:
    """P(s | y = k) by one flow and a Gaussian per class; see `ssme.mixture.kde`.

    ``start`` (n, K) is a first guess of the labels, which fixes the Gaussians that the flow is
    trained to. ``layers`` and ``hidden`` are coupling layers and units of their hidden layers.
    """

    def __init__(
        self,
        points: FloatArray,
        labels: NDArray[np.int64],
        start: FloatArray,
        rng: np.random.Generator,
        *,
        sample_weight: FloatArray | None = None,
        layers: int = 10,
        hidden: int = 128,
        training: Training | None = None,
        device: str | None = None,
    ) -> None:
        import_torch("density 'flow'")
        from ssme.mixture.realnvp import (
            MixtureBase,
            RealNvp,
            Training,
            seed_torch,
            train,
            use_one_thread,
        )

        if np.isnan(points).any():
            row, column = np.argwhere(np.isnan(points))[0]
            raise InputError(
                f"density 'flow' needs every score, and row {row} lacks coordinate {column}",
                hint="use `density='gmm'` or `density='kde'`, or drop rows with missing scores",
            )
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
        self._gaussians = copy(self._gaussians)
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
        import torch

        x = torch.as_tensor(self._standardize(points), dtype=torch.float32, device=self._device)
        with torch.no_grad():
            z, log_det = self._flow(x)
        to_scaled = np.log(self._scale).sum()
        return z.double().cpu().numpy(), log_det.double().cpu().numpy() - to_scaled

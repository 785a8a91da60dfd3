"""Standard errors of means with clusters by statsmodels, kept in fixtures/clusters.json.

Run in an environment with statsmodels: python tests/reference/make_cluster_fixtures.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import statsmodels
import statsmodels.api as sm

FILE = Path(__file__).parent / "fixtures" / "clusters.json"


def make_case(seed: int) -> dict[str, object]:
    """Values in clusters of unequal sizes, weighted in odd seeds, and their standard error."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, 12)
    clusters = np.repeat(np.arange(12), sizes)
    values = (rng.normal(size=12)[clusters] + rng.normal(size=clusters.size) > 0).astype(float)
    weights = rng.uniform(0.5, 2.0, clusters.size) if seed % 2 else np.ones(clusters.size)
    model = sm.WLS(values, np.ones((values.size, 1)), weights=weights)
    # G / (G - 1) alone: the factor (n - 1) / (n - k) of statsmodels is one for a mean
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": clusters})
    return {
        "values": values.tolist(),
        "weights": weights.tolist(),
        "clusters": clusters.tolist(),
        "standard_error": float(fit.bse[0]),
    }


if __name__ == "__main__":
    cases = [make_case(seed) for seed in range(4)]
    kept = {"statsmodels": statsmodels.__version__, "cases": cases}
    FILE.write_text(json.dumps(kept, indent=1) + "\n")

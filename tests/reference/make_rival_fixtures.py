"""Makes tests/reference/fixtures/{ppi,dawid_skene}.json with the published packages.

    python -m venv oracle && oracle/bin/pip install ppi-python==0.2.3 crowd-kit==1.4.2
    oracle/bin/python tests/reference/make_rival_fixtures.py

Neither package is a dependency of ssme or of its tests: only their numbers are stored, with the
inputs that gave them.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

FIXTURES = Path(__file__).parent / "fixtures"


def ppi_cases() -> list[dict[str, object]]:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    cases = []
    for seed, n, n_unlabeled in ((0, 5, 40), (1, 20, 300), (2, 100, 50)):
        rng = np.random.default_rng(seed)
        predicted, unlabeled = rng.random(n).round(6), rng.beta(3, 1, n_unlabeled).round(6)
        truth = (rng.random(n) < predicted).astype(float)
        for lam in (0.0, 0.37, 1.0):
            for alpha in (0.05, 0.2):
                low, high = ppi_mean_ci(truth, predicted, unlabeled, alpha=alpha, lam=lam)
                point = ppi_mean_pointestimate(truth, predicted, unlabeled, lam=lam)
                cases.append(
                    {
                        "truth": truth.tolist(),
                        "predicted": predicted.tolist(),
                        "unlabeled": unlabeled.tolist(),
                        "lam": lam,
                        "level": 1 - alpha,
                        "point": float(np.ravel(point)[0]),
                        "low": float(np.ravel(low)[0]),
                        "high": float(np.ravel(high)[0]),
                    }
                )
    return cases


def votes_of(n_rows: int, n_workers: int, n_classes: int, accuracy: float, seed: int) -> np.ndarray:
    """Predicted classes (n, M) of workers right with probability ``accuracy``."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    wrong = (y[:, None] + rng.integers(1, n_classes, (n_rows, n_workers))) % n_classes
    return np.where(rng.random((n_rows, n_workers)) < accuracy, y[:, None], wrong)


def dawid_skene_cases() -> list[dict[str, object]]:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    cases = []
    for name, votes, n_classes, n_iter in (
        ("5 rows x 5 workers", votes_of(5, 5, 2, 0.8, 3), 2, 100),
        ("200 rows x 5 workers, converged", votes_of(200, 5, 3, 0.75, 1), 3, 1000),
        ("300 rows x 7 workers, converged", votes_of(300, 7, 2, 0.7, 2), 2, 1000),
    ):
        n, m = votes.shape
        frame = pd.DataFrame(
            {
                "task": np.repeat(np.arange(n), m),
                "worker": np.tile(np.arange(m), n),
                "label": votes.ravel(),
            }
        )
        posterior = DawidSkene(n_iter=n_iter, tol=1e-12).fit_predict_proba(frame)
        posterior = posterior.reindex(index=range(n), columns=range(n_classes)).fillna(0.0)
        cases.append(
            {
                "name": name,
                "votes": votes.tolist(),
                "n_classes": n_classes,
                "posterior": posterior.to_numpy().round(8).tolist(),
            }
        )
    return cases


def main() -> None:
    FIXTURES.mkdir(exist_ok=True)
    for name, package, cases in (
        ("ppi", "ppi-python", ppi_cases()),
        ("dawid_skene", "crowd-kit", dawid_skene_cases()),
    ):
        made_by = f"{package} {version(package)}, tests/reference/make_rival_fixtures.py"
        text = json.dumps({"made_by": made_by, "cases": cases}, separators=(",", ":"))
        (FIXTURES / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()

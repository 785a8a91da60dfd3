"""Bradley-Terry strengths by evalica, kept in fixtures/pairs.json.

Run in an environment with evalica: python tests/reference/make_pair_fixtures.py
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import evalica
import numpy as np

FILE = Path(__file__).parent / "fixtures" / "pairs.json"
WINNERS = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "tie": evalica.Winner.Draw}


def make_case(seed: int) -> dict[str, object]:
    """Comparisons of five systems, a fifth of them ties, and their strengths."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(size=5)
    first = rng.integers(5, size=150)
    second = (first + rng.integers(1, 5, size=150)) % 5
    gap = strengths[first] - strengths[second] + rng.logistic(size=150)
    said = np.where(gap > 0.3, "a", np.where(gap < -0.3, "b", "tie"))
    a, b = [f"s{i}" for i in first], [f"s{i}" for i in second]
    winners = [WINNERS[each] for each in said]
    found = evalica.bradley_terry(a, b, winners, tie_weight=0.5, tolerance=1e-12, limit=10_000)
    scores = np.log(found.scores).sort_index()
    return {
        "model_a": a,
        "model_b": b,
        "human": said.tolist(),
        "strengths": (scores - scores.mean()).to_dict(),
    }


if __name__ == "__main__":
    kept = {"evalica": version("evalica"), "cases": [make_case(seed) for seed in range(3)]}
    FILE.write_text(json.dumps(kept) + "\n")

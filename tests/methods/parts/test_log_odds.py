from __future__ import annotations

import numpy as np

from ssme.methods.parts.draws import log_odds


def test_log_odds_keep_off_the_ends() -> None:
    edge = np.log(1e-6) - np.log1p(-1e-6)
    np.testing.assert_allclose(log_odds(np.array([0.0, 0.5, 1.0]), 1e-6), [edge, 0.0, -edge])

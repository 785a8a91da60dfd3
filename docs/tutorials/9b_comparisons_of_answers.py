"""
A ranking from comparisons of two answers
=========================================

Four systems, 500 comparisons by a language model that prefers the first answer it sees, and 80 by
people. The Bradley-Terry strengths of the systems, corrected.
"""

# sphinx_gallery_thumbnail_path = "images/method/6-estimates.svg"

import numpy as np
import pandas as pd

import ssme

# %%
# Simulated: a difference of strengths decides, up to noise; small differences are ties.

rng = np.random.default_rng(2)
strengths = np.array([-0.6, -0.1, 0.1, 0.6])
first = rng.integers(4, size=500)
second = (first + rng.integers(1, 4, size=500)) % 4
gap = strengths[first] - strengths[second] + rng.logistic(size=500)


def compare(seen):
    return np.where(seen > 0.3, "a", np.where(seen < -0.3, "b", "tie"))


table = pd.DataFrame({"model_a": first, "model_b": second, "prompt": np.arange(500)})
table["judge_gpt"] = compare(gap + 0.8 + rng.normal(size=500))
table["human"] = np.where(np.arange(500) < 80, compare(gap), None)

# %%
# Strengths
# ---------
# In log-odds, zero on average; ties are half a win. Labels alone have far wider intervals.

result = ssme.evaluate_systems(table, "human")
columns = ["system", "judges", "estimate", "low", "high", "labels_only"]
result.frame().query("measure == 'bradley_terry'")[columns].round(2)

# %%
# How often a system is preferred to another one:

result.frame().query("measure == 'win_rate'")[[*columns, "p_best"]].round(2)

# %%
# The effect of the order
# -----------------------
# The probability that the judge prefers the first of two answers as good.

pd.DataFrame(result.judges())[["judge", "position", "position_low", "position_high"]].round(2)

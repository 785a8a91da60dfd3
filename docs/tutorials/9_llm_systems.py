"""
Which LLM system, from few human labels
=======================================

Two models answered 300 prompts. Two judges graded every answer, and a person looked at 60. Is the
new model better, and which judge can be trusted?
"""

# sphinx_gallery_thumbnail_path = "images/method/7-reliability.svg"

import numpy as np
import pandas as pd

import ssme

# %%
# The answers are simulated, so that the truth is known. One judge likes long answers.

rng = np.random.default_rng(1)
parts = []
for model, level in {"old": 0.2, "new": 0.7}.items():
    good = level + rng.normal(size=300) > 0
    length = rng.integers(20, 600, 300)
    strict = np.where(rng.random(300) < 0.85, good, ~good)
    talker = np.where(rng.random(300) < 0.85, good, ~good) | (length > 300)
    part = {"model": model, "prompt": np.arange(300), "length": length, "good": good.astype(int)}
    parts.append(pd.DataFrame({**part, "judge_strict": 1 * strict, "judge_talker": 1 * talker}))
table = pd.concat(parts, ignore_index=True)
truth = table.groupby("model")["good"].mean()
seen = rng.permutation(len(table))[:60]
table["human"] = table.pop("good").where(table.index.isin(seen))

# %%
# Pass rates
# ----------
# What judges say of all answers is corrected by what they get wrong where the person looked.

result = ssme.evaluate_systems(table, "human", item="prompt", length="length")
columns = ["system", "judges", "estimate", "low", "high", "labels_only", "p_best"]
result.frame()[columns].round(3)

# %%
# The truth, which nobody saw:

truth.round(3)

# %%
# The difference, prompt by prompt
# --------------------------------
# A gate says whether the new model may be shipped.

print(result.gate("new-old:pass_rate.low>=-0.01").passed)
pd.DataFrame(result.differences())[["first", "second", "difference", "low", "high"]].round(3)

# %%
# Which judge?
# ------------
# Accuracy against the person, and how much higher a verdict is for an answer twice as long.

pd.DataFrame(result.judges())[["judge", "accuracy", "accuracy_low", "accuracy_high"]].round(3)

# %%

pd.DataFrame(result.biases()).round(3)

# %%
# Rows to look at again: the most probable errors of judges first.

pd.DataFrame(result.disagreements(limit=5))

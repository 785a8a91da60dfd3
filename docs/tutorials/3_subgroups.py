"""
Subgroups
=========

How good is each classifier for every group, and which group is worst? A group with five labels says
little by itself; it is shrunk towards all rows, and the table says how much.
"""

# sphinx_gallery_thumbnail_path = "images/report-groups.png"

import pandas as pd

import ssme
from ssme.sample import sample_path

scores = pd.read_csv(sample_path())

# %%
# The sample has no groups. We make one that matters: rows on which the forest is unsure are hard.

unsure = (scores["forest"] - 0.5).abs()
scores["kind"] = pd.cut(unsure, [-1, 0.15, 0.35, 1], labels=["hard", "middle", "easy"]).astype(str)
result = ssme.evaluate(scores, "label", id="id", groups=["kind"], metrics="accuracy")
columns = [
    "model",
    "group",
    "estimate",
    "low",
    "high",
    "n_labeled",
    "shrinkage",
    "effective_labels",
]
table = result.frame()
table[table["model"].isin(["forest", "neighbors"])][columns].round(3)

# %%
# Worst group first. These intervals hold for all groups at once, so the first line may be believed
# although it was picked because it is first.

result.worst_groups("accuracy")

# %%
# How far apart the groups are:

result.gaps("accuracy")

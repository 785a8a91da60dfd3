"""
A rare outcome
==============

One row in twelve is positive. Accuracy then says little, and a random sample of 40 rows has only
a few positives. What can still be known?
"""

# sphinx_gallery_thumbnail_path = "images/method/3-recalibration.svg"

import numpy as np
import pandas as pd

import ssme
from ssme.sample import sample_path, truth_path

scores = pd.read_csv(sample_path()).set_index("id")
truth = pd.read_csv(truth_path()).set_index("id")["label"].loc[scores.index]

# %%
# Keep every digit below five and one in eleven of the others, then label 40 rows at random.

rng = np.random.default_rng(1)
keep = (truth == 0) | (rng.random(len(truth)) < 1 / 11)
scores, truth = scores[keep], truth[keep]
labeled = rng.choice(len(scores), 40, replace=False)
labels = np.full(len(scores), np.nan)
labels[labeled] = truth.to_numpy()[labeled]
print(
    f"{truth.mean():.1%} of {len(truth)} rows are positive, {np.nansum(labels):.0f} of 40 labels."
)

# %%
# Average precision and recall compared with the truth, which the method did not see. Look at the
# width of the intervals from labels alone.

data = ssme.ScoreSet.from_arrays(
    scores.drop(columns="label").to_numpy(), labels, models=list(scores.columns[1:])
)
result = ssme.evaluate(data, metrics=["average_precision", "recall"])
everything = ssme.evaluate(
    data.with_labels(truth.to_numpy()), metrics=["average_precision", "recall"], method="labeled"
)
table = result.frame()
table["truth"] = everything.frame()["estimate"]
columns = ["model", "metric", "estimate", "low", "high", "truth"]
columns += ["labels_only_low", "labels_only_high"]
table[columns].round(2)

# %%
# The warnings say what the few positives cost. Take them seriously: with a handful of
# positive labels, recall is mostly inferred from the scores.

for warning in result.warnings:
    print(warning, end="\n\n")

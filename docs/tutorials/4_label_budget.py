"""
A label budget
==============

Which rows should be labeled next, and how many labels does a goal take? Rows are drawn with known
probabilities; given back with the labels, they let the intervals allow for how rows were chosen.
"""

# sphinx_gallery_thumbnail_path = "images/serve-6-label.png"

import pandas as pd

import ssme
from ssme.sample import sample_path, truth_path

result = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
print(result.choose("accuracy").sentence())

# %%
# How many labels
# ---------------
# A plan simulates labels from what is believed now, and counts until the target is met.

plan = result.plan("width(forest:accuracy)<=0.05", simulations=3)
print(plan.sentence())

# %%
# Which rows
# ----------
# To find the best classifier, rows on which the candidates differ tell most.

rows = result.suggest(20, goal="best")
rows.frame().head()

# %%
# Label and evaluate again
# ------------------------
# Here the truth replaces the annotator. The labels come back with the probabilities that their
# rows were drawn with, which `auto` and the other methods that can weigh labels use. A method that
# cannot refuses such labels, rather than take them for a random sample.

truth = pd.read_csv(truth_path()).set_index("id")["label"]
data = rows.fill_in([truth[each] for each in rows.ids])
again = ssme.evaluate(data, metrics="accuracy")
again.frame()[["model", "estimate", "low", "high", "n_labeled"]].round(3)

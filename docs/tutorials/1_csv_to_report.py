"""
From a CSV file to a report
===========================

A file with scores of several classifiers and labels for a few rows becomes a table, a decision and
one HTML file that can be sent on.
"""

# sphinx_gallery_thumbnail_path = "images/report-binary.png"

from pathlib import Path
from tempfile import mkdtemp

import pandas as pd

import ssme
from ssme.sample import sample_path

scores = pd.read_csv(sample_path())
scores.head()

# %%
# What is understood
# ------------------
# Everything is checked once, when it is read. The layout says what each column was taken for.

data = ssme.ScoreSet.read(sample_path(), "label", id="id")
print(data.layout)

# %%
# Evaluate
# --------
# The default method uses the unlabeled rows as well as the 30 labels. ``labels_only`` is what the
# labels say by themselves.

result = ssme.evaluate(data, metrics=["accuracy", "ece"])
result.frame()[["model", "metric", "estimate", "low", "high", "labels_only"]].round(3)

# %%
# What should worry us
# --------------------
# A warning has a code, the numbers behind it and advice.

for warning in result.warnings:
    print(warning)

# %%
# Decide
# ------
# The same joint draws answer who is better than whom, and what a choice may cost.

print(result.choose("accuracy").sentence())

# %%
# The probability of being the best, of every classifier:

result.ranking("accuracy").frame().round(3)

# %%
# Send it on
# ----------
# The report opens anywhere and asks nothing of the network.

report = result.report(Path(mkdtemp()) / "report.html")
print(f"The report has {Path(report).stat().st_size:,} bytes.")

"""
A gate in continuous integration
================================

A pipeline must not ship a model that is worse than the one in use. A gate asks that of the same
joint draws as the table, and fails on serious warnings too.
"""

# sphinx_gallery_thumbnail_path = "images/serve-9-history.png"

import subprocess
import sys

import ssme
from ssme.sample import sample_path

# %%
# In Python
# ---------
# ``forest`` is in use; may ``boosting`` replace it?

result = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
verdict = result.gate("boosting-forest:accuracy.low>=-0.02", "boosting:accuracy.low>=0.85")
print(verdict.passed)

# %%
# Each condition that is not met is reported in a sentence:

for sentence in result.gate("accuracy.low>=0.85").failures:
    print(sentence)

# %%
# On the command line
# -------------------
# The exit code is 0 if every condition is met, 1 if one is not, and 2 if the input is invalid.
# The line of a workflow file is ``ssme evaluate scores.csv --fail-under "accuracy.low>=0.85"``.

command = [sys.executable, "-m", "ssme", "evaluate", str(sample_path()), "--label", "label"]
command += ["--id", "id", "--metrics", "accuracy", "--fail-under", "accuracy.low>=0.85", "--quiet"]
finished = subprocess.run(command, capture_output=True, text=True)
print("exit code", finished.returncode)
print(finished.stderr)

"""
Language models as judges
=========================

Four language models say whether an answer is good. A person has looked at 40 of 600 answers. How
often is each model right, and whom do we let judge the rest? Judges say a class, not a probability.
"""

# sphinx_gallery_thumbnail_path = "images/method/2-agreement.svg"

import numpy as np

import ssme

# %%
# The judges are simulated, so that the truth is known: some answers are harder than others for all
# judges, one judge is lenient, and each is sometimes unsure.

rng = np.random.default_rng(4)
n = 600
truth = rng.random(n) < 0.6
hard = rng.normal(0, 1, n)
skill = {"large": 2.4, "medium": 1.8, "small": 1.1, "lenient": 1.6}
said = {}
for name, level in skill.items():
    lean = 0.8 if name == "lenient" else 0.0
    evidence = (2 * truth - 1) * (level - 0.9 * hard) + lean + rng.normal(0, 1.2, n)
    said[name] = np.where(evidence > 0, "good", "bad").astype(object)
    said[name][rng.random(n) < 0.03] = "unsure"

labels = np.full(n, None, dtype=object)
seen = rng.choice(n, 40, replace=False)
labels[seen] = np.where(truth[seen], "good", "bad")

# %%
# What is understood
# ------------------
# "unsure" is no answer: it counts neither for nor against a judge.

data = ssme.ScoreSet.from_answers(said, labels, classes=["bad", "good"])
print(data.layout)

# %%
# How good is each judge?
# -----------------------
# The method ``answers`` weighs the judges by how they agree with each other and with the person.
# ``cohen_kappa`` is the agreement with the person beyond chance.

result = ssme.evaluate(data, method="answers", metrics=["accuracy", "cohen_kappa", "recall[bad]"])
table = result.frame()[["model", "metric", "estimate", "low", "high", "labels_only"]]
table.round(2)

# %%
# Compared with the truth, which no method saw:

for name, answers in said.items():
    given = answers != "unsure"
    print(name, round(float(((answers == "good") == truth)[given].mean()), 3))

# %%
# Whom to take
# ------------

print(result.choose("accuracy").sentence())

# %%
# What should worry us
# --------------------

for warning in result.warnings:
    print(warning, end="\n\n")
print(f"{len(result.warnings)} warnings")

# %%
# How often does a system win?
# ----------------------------
# In a comparison of two systems the class says which one is better. ``win_rate`` estimates how
# often the second one truly wins, from few verdicts of people and many of the judges.

verdicts = {name: np.where(answers == "good", "new", "old") for name, answers in said.items()}
people = np.where(labels == "good", "new", np.where(labels == "bad", "old", None))
compared = ssme.ScoreSet.from_answers(verdicts, people, classes=["old", "new"])
wins = ssme.evaluate(compared, method="answers", metrics="win_rate")
first = wins.frame().iloc[0]
print(f"The new system wins {first['estimate']:.2f} ({first['low']:.2f} to {first['high']:.2f}).")
print(f"It truly wins {truth.mean():.2f}.")

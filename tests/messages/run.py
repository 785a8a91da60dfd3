"""Messages of `ssme.evaluate`."""

import numpy as np

import ssme

SCORES = np.array([[0.9], [0.2], [0.6]])
LABELS = [1, 0, None]

CASES = {
    "level above 1": lambda: ssme.evaluate(SCORES, LABELS, level=2),
    "unknown metric": lambda: ssme.evaluate(SCORES, LABELS, metrics="acuracy"),
    "unknown option": lambda: ssme.evaluate(SCORES, LABELS, seed=1),
    "column of arrays": lambda: ssme.evaluate(SCORES, "label"),
}

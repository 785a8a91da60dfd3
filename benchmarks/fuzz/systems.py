"""Fuzz what must not matter to rates of systems: order, names, layout and file format.

    python -m benchmarks.fuzz.systems [--cases 2000] [--seed 0] [--workers 1]

A case draws a table of systems, items, judges and a few human labels, and asks for rates,
differences and judges twice, of the table and of another form of it. Numbers have to be equal to
1e-9 (1e-5 in single precision); where rows move, draws fall on other ones, and the means over
`SEEDS` seeds have to be equal within their Monte-Carlo error.
Writes ``benchmarks/results/fuzz_systems.csv``: counts by relation.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.written import Columns, make_frame, write_table

import ssme
from benchmarks.fuzz.tables import limit_time, make_parser, split_cases, spread, write_counts
from ssme import InputError

EXACT, SINGLE = 1e-9, 1e-5
SEEDS, ERRORS = 10, 6.0
"""With how many seeds means are compared, and their largest difference in standard errors."""
WORDS = {0: "no", 1: "yes"}
FILES, FRAMES = (".csv", ".tsv", ".jsonl", ".json", ".parquet"), ("polars", "pyarrow")


class Form(NamedTuple):
    """A table in one form. ``give`` makes what is evaluated and more options for it in a folder."""

    columns: Columns
    names: Mapping[str, str] = {}  # new names of systems and judges to the old ones
    moves: bool = False
    tolerance: float = EXACT
    give: Callable[[Columns, Path], tuple[Any, dict[str, Any]]] = lambda columns, _: (
        make_frame(columns, "pandas"),
        {},
    )


def draw_table(rng: np.random.Generator) -> tuple[str, Columns]:
    """What is said of answers (passes, words, grades or numbers), and the table."""
    kind = str(rng.choice(["passes", "words", "grades", "numbers"]))
    n_systems, n_items, n_judges = rng.integers((1, 20, 1), (5, 60, 4))
    epochs = int(rng.choice([1, 1, 2]))
    system, item, epoch = (a.ravel() for a in np.indices((n_systems, n_items, epochs)))
    quality = rng.normal(size=n_systems)[system] + rng.normal(size=n_items)[item]

    def grade(noise: float) -> list[Any]:
        seen = quality + noise * rng.normal(size=system.size)
        share = 1.0 / (1.0 + np.exp(-seen))
        if kind == "numbers":
            return [round(100.0 * float(x), 1) for x in share]
        if kind == "grades":
            return [int(x) for x in np.clip(1 + 5 * share, 1, 5)]
        passed = [int(x > 0.5) for x in share]
        return [WORDS[p] for p in passed] if kind == "words" else passed

    columns: Columns = {
        "system": [("new", "old", "tuned", "base")[s] for s in system],
        "item": [f"q{i}" for i in item],
    }
    if epochs > 1:
        columns["epoch"] = epoch.tolist()
    for name in ("ada", "bert", "cato")[:n_judges]:
        columns[f"judge_{name}"] = grade(rng.uniform(0.3, 2.0))
    if rng.random() < 0.3:
        columns["topic"] = [("law", "math")[i % 2] for i in item]
    labeled = rng.random(system.size) < rng.uniform(0.2, 0.6)
    truth = grade(0.2)
    columns["human"] = [t if known else None for t, known in zip(truth, labeled, strict=True)]
    return kind, columns


def move_rows(columns: Columns, rng: np.random.Generator) -> Form:
    order = rng.permutation(len(columns["item"]))
    return Form({name: [v[i] for i in order] for name, v in columns.items()}, moves=True)


def move_columns(columns: Columns, rng: np.random.Generator) -> Form:
    names = [list(columns)[i] for i in rng.permutation(len(columns))]
    return Form({name: columns[name] for name in names}, moves=True)


def rename(columns: Columns, rng: np.random.Generator) -> Form:
    """Other names of systems and judges, whose order they turn."""
    systems = {old: f"s{9 - i}" for i, old in enumerate(dict.fromkeys(columns["system"]))}
    judges = [name for name in columns if name.startswith("judge_")]
    new = {name: f"judge_{9 - i}" for i, name in enumerate(judges)}
    moved = {new.get(name, name): values for name, values in columns.items()}
    moved["system"] = [systems[s] for s in columns["system"]]
    return Form(moved, {n: o for o, n in (systems | new).items()}, moves=True)


def write_file(columns: Columns, rng: np.random.Generator) -> Form:
    suffix = str(rng.choice(FILES))
    return Form(columns, give=lambda c, folder: (write_table(c, folder / f"t{suffix}"), {}))


def make_other_frame(columns: Columns, rng: np.random.Generator) -> Form:
    library = str(rng.choice(FRAMES))
    return Form(columns, give=lambda c, _: (make_frame(c, library), {}))


def narrow(columns: Columns, rng: np.random.Generator) -> Form:
    """Numbers of single precision."""
    judges = [name for name in columns if name.startswith("judge_")]
    known = [v for name in judges for v in columns[name]]
    if not isinstance(known[0], float):
        return make_other_frame(columns, rng)
    library = str(rng.choice(FRAMES))
    return Form(columns, tolerance=SINGLE, give=lambda c, _: (make_frame(c, library, judges), {}))


def melt(columns: Columns, rng: np.random.Generator) -> Form:
    """One verdict in each row."""
    judges = [name for name in columns if name.startswith("judge_")]
    rest = [name for name in columns if name not in judges]
    n = len(columns["item"])
    long: Columns = {name: columns[name] * len(judges) for name in rest}
    long["by"] = [name for name in judges for _ in range(n)]
    long["verdict"] = [v for name in judges for v in columns[name]]
    options = {"judge": "by", "judges": ["verdict"]}
    options |= {"repeat": "epoch"} if "epoch" in columns else {}
    # the order of judges and rows is that of the table; draws fall on the same rows
    return Form(long, moves=True, give=lambda c, _: (make_frame(c, "pandas"), options))


def say_in_words(columns: Columns, rng: np.random.Generator) -> Form:
    """yes and no for 1 and 0, or 1 and 0 for yes and no."""
    codes: dict[Any, Any] = {**WORDS, **{word: code for code, word in WORDS.items()}}
    known = {v for v in columns["human"] if v is not None}
    if not known <= {0, 1} and not known <= set(WORDS.values()):
        return write_file(columns, rng)
    said = [name for name in columns if name == "human" or name.startswith("judge_")]
    return Form(columns | {name: [codes.get(v) for v in columns[name]] for name in said})


def take_labels_out(columns: Columns, rng: np.random.Generator) -> Form:
    """Labels in a file, in another order."""
    keys = [name for name in ("system", "item", "epoch") if name in columns]
    rows = [i for i, v in enumerate(columns["human"]) if v is not None]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    labels = {name: [columns[name][i] for i in rows] for name in (*keys, "human")}
    rest = {name: values for name, values in columns.items() if name != "human"}
    options = {"repeat": "epoch"} if "epoch" in columns else {}

    def give(columns: Columns, folder: Path) -> tuple[Any, dict[str, Any]]:
        file = write_table(labels, folder / "labels.csv")
        return make_frame(columns, "pandas"), {"labels_file": file, **options}

    return Form(rest, give=give)


RELATIONS = {
    "row order": move_rows,
    "column order": move_columns,
    "names": rename,
    "file": write_file,
    "frame": make_other_frame,
    "float32": narrow,
    "long layout": melt,
    "words": say_in_words,
    "labels file": take_labels_out,
}


def ask(form: Form, question: dict[str, Any], seed: int = 0) -> dict[tuple[str, ...], float] | str:
    """Every number by what it is of, or the message where the table is refused."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            source, options = form.give(form.columns, Path(folder))
            result = ssme.evaluate_systems(
                source, "human", random_state=seed, n_draws=200, **question, **options
            )
            tables = {"rows": result.rows(), "judges": result.judges()}
            tables["differences"] = result.differences()
        except InputError as error:
            return str(error)
    found: dict[tuple[str, ...], float] = {}
    for table, rows in tables.items():
        for row in rows:
            texts = {k: form.names.get(v, v) for k, v in row.items() if isinstance(v, str)}
            sign = 1.0
            if table == "differences" and texts["first"] > texts["second"]:
                row, sign = turn(row), -1.0
                texts["first"], texts["second"] = texts["second"], texts["first"]
            key = (table, *(str(texts[k]) for k in sorted(texts)))
            for name, value in row.items():
                if isinstance(value, (int, float)):
                    found[*key, name] = float(value)
            if sign < 0.0:
                found[*key, "difference"] = -float(row["difference"])
    return found


def turn(row: dict[str, Any]) -> dict[str, Any]:
    """A difference the other way round, but for itself; a tie of draws is for neither."""
    ends = {"low": "high", "high": "low", "low_all": "high_all", "high_all": "low_all"}
    turned = {name: -row[other] for name, other in ends.items()}
    return {k: v for k, v in row.items() if k != "p_first"} | turned


def compare(seed: int, case: int) -> tuple[str, str, str]:
    """The relation of a case, its outcome, and what differs."""
    rng = np.random.default_rng([seed, case])
    relation = str(rng.choice(list(RELATIONS)))
    kind, columns = draw_table(rng)
    question: dict[str, Any] = {"groups": ["topic"]} if "topic" in columns else {}
    if kind == "grades" and rng.random() < 0.3:
        question["cut"] = 3
    elif kind == "numbers":
        question["bounds"] = [0, 100]
    if "epoch" in columns and kind in ("passes", "words") and rng.random() < 0.3:
        question["pass_k"] = [1]
    other = RELATIONS[relation](columns, rng)
    try:
        ones, others = ask(Form(columns), question), ask(other, question)
    except Exception as error:
        return relation, "uncaught", f"{type(error).__name__}: {error}"
    if isinstance(ones, str) or isinstance(others, str):
        same = isinstance(ones, str) and isinstance(others, str)
        return (
            relation,
            "refused" if same else "different",
            f"{kind}: {ones!s:.200} | {others!s:.200}",
        )
    wrong = find_difference([ones], [others], other.tolerance)
    if wrong and other.moves:
        seeds = range(SEEDS)
        wrong = find_difference(
            [ask(Form(columns), question, s) for s in seeds],
            [ask(other, question, s + SEEDS) for s in seeds],
            other.tolerance,
        )
    return relation, "different" if wrong else "same", f"{kind} {question}: {wrong}"


def find_difference(ones: list[Any], others: list[Any], tolerance: float) -> str:
    """The first number that differs, by more than its Monte-Carlo error where there are several."""
    shared = set(ones[0]) & set(others[0])
    lost = {k for k in set(ones[0]) ^ set(others[0]) if k[-1] != "p_first"}
    if lost:
        return f"only once: {sorted(lost)[:3]}"
    for key in sorted(shared):
        x, y = (np.array([each[key] for each in all_of]) for all_of in (ones, others))
        if np.isnan(x).all() and np.isnan(y).all():
            continue
        error = np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / len(x)) if len(x) > 1 else 0.0
        allowed = ERRORS * error + tolerance * max(1.0, abs(x.mean()))
        if not abs(x.mean() - y.mean()) <= allowed:
            return f"{key}: {x.mean()!r}, {y.mean()!r} (standard error {error:.2g})"
    return ""


def attack(cases: int, seed: int, first: int = 0) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Counts of (relation, outcome) of ``cases`` cases from ``first`` on, and the findings."""
    counts: Counter[tuple[str, str]] = Counter()
    findings = []
    for case in range(first, first + cases):
        with limit_time():
            relation, outcome, detail = compare(seed, case)
        counts[relation, outcome] += 1
        if outcome not in ("same", "refused"):
            findings.append(f"case {case}, {relation}, {outcome}: {detail}")
    return counts, findings


def main() -> None:
    arguments = make_parser(__doc__, cases=2_000).parse_args()
    tasks = [(size, arguments.seed, at) for at, size in split_cases(arguments.cases, 100)]
    counts: Counter[tuple[str, str]] = Counter()
    findings: list[str] = []
    for part, found in spread(attack, tasks, arguments.workers):
        counts.update(part)
        findings += found
    outcomes = ("same", "refused", "different", "uncaught")
    rows = [
        {"relation": r, **{o: counts[r, o] for o in outcomes}, "seed": arguments.seed}
        for r in RELATIONS
    ]
    write_counts(rows, "fuzz_systems")
    print("\n".join(findings))
    print(f"{arguments.cases} cases, {len(findings)} that should not be")


if __name__ == "__main__":
    main()

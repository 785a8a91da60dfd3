"""Figures of ours that documents quote, held against the committed results.

What is between ``<!-- NAME -->`` and ``<!-- /NAME -->`` is written from the results (`PARTS`). A
figure within a sentence is followed by a comment that says where it
is from:

    0.20<!-- quote all_sets_overall rmae method=auto n_labeled=20 -->

names the file, the column and the rows; with several rows, ``mean``, ``min`` or ``max`` before
the file says what to take of them, ``not`` that the figure is one minus the value, and ``percent``
before all that it is in percent; a space within a value is written ``+``. ``count`` before the file
counts rows, and ``sum`` adds a column up. ``method=auto/ssme`` takes the ratio of the rows of the
one to those of the other. The figure
holds where the result, rounded to the digits of the quotation, is the quotation.

A measurement in prose is quoted or it is no number: decimals, percentages, counts such as "3 of
12", times and sizes without a mark are refused outside of code, links and written tables. Those
that are no measurements, such as a default or an example, are followed by ``<!-- constant -->``, or
are enclosed by ``<!-- constants -->`` and ``<!-- /constants -->``.

Every other number of a page, in digits or in words, with the word after it, has a line in
``benchmarks/constants.csv``: constants, "25 runs", examples, numbers in code. One that is changed,
added or left out fails until ``--fill`` renews the list.

    python -m benchmarks.quotes            # write tables and figures, then check
    python -m benchmarks.quotes --check    # fail on a table or figure that its result does not hold
    python -m benchmarks.quotes --fill     # the same as the first, and list the other numbers anew
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from benchmarks.accuracy.tables import READINGS
from benchmarks.answers import tables as answers_tables
from benchmarks.auto import tables as auto_tables
from benchmarks.auto.priors import TORTURE
from benchmarks.decide import page as decide_page
from benchmarks.experiment import RESULTS
from benchmarks.markdown import Parts, format_rows, renew
from benchmarks.mutation.verdicts import EQUIVALENT, KINDS
from benchmarks.paper import REPRODUCES

TOP = Path(__file__).resolve().parents[1]
QUOTE = re.compile(r"(-?[\d,]*\.?\d+)\s?<!-- quote ([^>]*?) -->")
MARKS = re.compile(r"<!-- quote ")
FIGURE = re.compile(
    r"(?<![\w.,(/-])\(?(\d[\d,]*\.\d+(?![\w.]*\w)(?: ?%)?|\d+ ?%|[\d,]+ of (?:the |all )?\d[\d,]*"
    r"|\d[\d,]* (?:times|seconds|minutes|ms|[kKMG]i?B)\b)"
)
NO_PROSE = (
    re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE),
    re.compile(r"<!-- ((?!quote|constant -)[^/>]+) -->\n.*?<!-- /\1 -->", re.DOTALL),
    re.compile(
        r"-?[\d,]*\.?\d+\s?(?:of (?:the )?[\d,]+|%)?\s?<!-- (?:quote [^>]*?|constant) -->"
        r"(?: ?%| of (?:the )?[\d,]+)?"
    ),
    re.compile(r"`[^`]*`|!\[[^\]]*\]|\]\([^)]*\)|^#.*$", re.MULTILINE),
)
"""Code, written tables, constants, quoted figures; code in a line, pictures, links, headings."""
WRITTEN = re.compile(r"<!-- (?!constants? -)([^/>]+) -->\n.*?<!-- /\1 -->", re.DOTALL)
"""What a program writes and checks."""
NUMBER = re.compile(
    r"([\w.,:+\u2212/-]*[\d²³¹⁰-₉½][\w.,:+\u2212/-]*|\b(?:two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million)\b)"
    r"(?=\s*([a-z%]*))",
    re.IGNORECASE,
)
"""A number in digits or words, and the word after it."""
PAGES = (
    "*.md",
    "docs/*.md",
    "docs/reference/*.rst",
    "docs/tutorials/*.rst",
    "benchmarks/evidence/*.md",
)
CONSTANTS = TOP / "benchmarks" / "constants.csv"
"""The numbers of each page that no result has."""
LEVEL = "95%"
"""The level of all intervals."""
CELLS = ("accuracy", "ece", "roc_auc", "average_precision")


@functools.cache
def read_result(name: str) -> pd.DataFrame:
    """A committed result."""
    return pd.read_csv(RESULTS / f"{name}.csv")


def find_quoted(words: str) -> float:
    """The value that the words of a comment name.

    Examples
    --------
    "all_sets_overall rmae method=auto n_labeled=20", "percent min all_sets coverage method=auto"
    """
    told = words.split()
    conditions = [word for word in told if "=" in word]
    plain = [word for word in told if "=" not in word]
    percent = plain[0] == "percent"
    plain = plain[1:] if percent else plain
    rest = plain[0] == "not"
    plain = plain[1:] if rest else plain
    how = plain.pop(0) if plain[0] in ("count", "sum", "mean", "min", "max") else None
    if how == "count":
        plain.append(read_result(plain[0]).columns[0])
    name, column = plain
    frame = read_result(name)
    for condition in conditions:
        key, _, value = condition.partition("=")
        if "/" in value:
            frame = compute_ratio(frame, key, value.split("/"), column)
        else:
            frame = frame[frame[key].astype(str).isin([value, value.replace("+", " ")])]
    if frame.empty or (how is None and len(frame) != 1):
        raise ValueError(f"{words}: {len(frame)} rows of {name}.csv")
    values = frame[column] if how == "count" else frame[column].astype(float)
    number = float(values.agg(how) if how else values.iloc[0])
    number = 1.0 - number if rest else number
    return 100 * number if percent else number


def compute_ratio(frame: pd.DataFrame, key: str, pair: list[str], column: str) -> pd.DataFrame:
    """``column`` of the rows of one value of ``key`` over that of another, cell by cell."""
    cell = [name for name in ("dataset", "metric", "n_labeled", "n_unlabeled") if name in frame]
    first, second = (frame[frame[key] == value].set_index(cell) for value in pair)
    return (first[column].astype(float) / second[column].astype(float)).rename(column).reset_index()


def check_quotes(text: str) -> list[str]:
    """What the figures of a text have wrong."""
    found = QUOTE.findall(text)
    problems = []
    if len(found) != len(MARKS.findall(text)):
        problems.append("a quote mark does not follow a figure")
    for figure, words in found:
        digits = len(figure.partition(".")[2])
        try:
            value = find_quoted(words)
        except (ValueError, KeyError, OSError) as error:
            problems.append(f"{figure}: {error}")
            continue
        if f"{value:.{digits}f}" != figure.replace(",", ""):
            problems.append(f"{figure} is quoted, {words} is {value:.{digits + 2}f}")
    return problems


def find_unmarked(text: str) -> list[re.Match[str]]:
    """Figures in prose that nothing checks."""
    for pattern in NO_PROSE:
        text = pattern.sub(lambda found: " " * len(found[0]), text)
    return [found for found in FIGURE.finditer(text) if found[1] != LEVEL]


def list_constants(text: str) -> Counter[str]:
    """How often each number that is neither written nor quoted is on a page."""
    text = QUOTE.sub(" ", WRITTEN.sub(" ", text))
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    found = (f"{each[1].strip('.,:/').rstrip('-+')} {each[2]}" for each in NUMBER.finditer(text))
    return Counter(each.strip().lower() for each in found)


def read_constants() -> dict[str, Counter[str]]:
    """The numbers of each page as they were listed last."""
    pages: dict[str, Counter[str]] = {}
    for row in pd.read_csv(CONSTANTS, dtype={"number": str}).itertuples():
        pages.setdefault(row.page, Counter())[row.number] = row.times
    return pages


def compare_constants(text: str, listed: Counter[str]) -> list[str]:
    """What numbers of a page were changed, added or left out."""
    found = list_constants(text)
    return [
        f"{number!r} is there {found[number]} times, listed {listed[number]} times"
        for number in sorted(found | listed)
        if found[number] != listed[number]
    ]


def fill_constants() -> list[str]:
    """List the numbers of all pages anew, and say which lines differ."""
    before, changes, rows = read_constants(), [], []
    for path in list_pages(TOP):
        name, text = str(path.relative_to(TOP)), path.read_text(encoding="utf-8")
        listed = before.get(name, Counter())
        changes += [f"{name}: {each}" for each in compare_constants(text, listed)]
        rows += [(name, *pair) for pair in sorted(list_constants(text).items())]
    frame = pd.DataFrame(rows, columns=["page", "number", "times"])
    frame.to_csv(CONSTANTS, index=False, lineterminator="\n")
    return changes


def list_pages(root: Path) -> list[Path]:
    """The pages whose numbers are checked, all but the report, which is written as a whole."""
    return sorted(path for pattern in PAGES for path in root.glob(pattern))


def requote(text: str) -> str:
    """``text`` with every figure as its result has it, to the digits of the quotation."""

    def quote_anew(found: re.Match[str]) -> str:
        digits = len(found[1].partition(".")[2])
        form = f"{',' if ',' in found[1] else ''}.{digits}f"
        return format(find_quoted(found[2]), form) + found[0][len(found[1]) :]

    return QUOTE.sub(quote_anew, text)


def format_table(head: list[str], rows: list[list[str]]) -> str:
    return format_rows(head, rows).rstrip()


def read_all_sets() -> tuple[pd.DataFrame, int]:
    """Methods over all real sets, and in how many runs those of `auto` were measured.

    `auto` changes more often than the others: its rows are those of its own study of the same sets
    and splits (`benchmarks.auto.campaign`).
    """
    frame = read_result("all_sets_overall").set_index(["method", "n_labeled"])
    key = ["n_labeled", "dataset", "metric"]
    errors = read_result("auto_overall").query("sets == 'development sets'")
    errors = errors.set_index("n_labeled")["rmae"]
    covered = read_result("auto_coverage").set_index(key)
    every = read_result("auto_rmae")
    cells = every[every["dataset"] != TORTURE]
    for n, error in errors.items():
        frame.loc[("auto", n), "rmae"] = error
        frame.loc[("auto", n), "cells_above_1"] = (cells.query("n_labeled == @n")["rmae"] > 1).sum()
        frame.loc[("auto", n), "coverage"] = covered.loc[(n, "all", "all"), "covered"]
        frame.loc[("auto", n), "width_ratio"] = covered.loc[(n, "all", "all"), "width_ratio"]
    splits = int(read_result("auto_warnings")["splits"].min())
    return frame, splits // every["dataset"].nunique()


def tabulate_all_sets() -> str:
    """README's table of methods over all real sets, and what it means in four sentences."""
    names = {
        "auto": "`auto`, our default",
        "majority_vote": "majority vote",
        "weighted_ensemble": "weighted ensemble",
        "ensemble": "mean score of the classifiers",
        "ssme": "SSME as published",
        "dawid_skene": "Dawid-Skene",
        "ppi": "PPI++",
    }
    frame, runs = read_all_sets()
    rows = []
    for method in sorted(names, key=lambda m: frame.loc[(m, 20), "rmae"]):
        own = [f"{frame.loc[(method, n), 'rmae']:.2f}" for n in (20, 50, 100)]
        last = frame.loc[(method, 100)]
        rows.append([names[method], *own, f"{last['cells_above_1']} of {last['cells']}"])
    head = ["error relative to labels alone", "20 labels", "50", "100"]
    table = format_table([*head, "cells worse than labels alone at 100"], rows)
    few, many = frame.loc[("auto", 20)], frame.loc[("auto", 100)]
    unseen = read_result("corpus_test").query("pattern == metric == 'all'").set_index("n_labeled")
    said = [
        f"Eleven sets of real classifiers, 1,000 unlabeled rows, {few['runs']} runs each, {runs} "
        "of `auto`. A *cell* is one metric on one set; errors are geometric means over cells "
        "(`python -m benchmarks.accuracy all_sets`, `python -m benchmarks.auto.campaign`).",
        "",
        "- **It wins** where classifiers differ in kind: its error is "
        f"{few['rmae']:.2f} times that of labels alone with 20 labels, "
        f"{many['rmae']:.2f} times with 100, and larger in "
        f"{many['cells_above_1']} of {many['cells']} cells.",
        "- **It wins less** on tables that were not used to build it, many of them difficult on "
        "purpose (a rare class, two models, one family, distorted scores): its error is "
        f"{unseen.loc[20, 'error']:.2f} times that of labels alone with 20 labels, "
        f"{unseen.loc[100, 'error']:.2f} times with 100.",
        "- **Coverage** of 95% intervals: "
        f"{many['coverage']:.0%} to {few['coverage']:.0%} on these sets, "
        f"{unseen.loc[20, 'covered']:.0%} to {unseen.loc[100, 'covered']:.0%} on those tables.",
    ]
    return f"{table}\n\n" + "\n".join(said)


def tabulate_choosing() -> str:
    """Error, coverage and width of the methods, for those who choose one."""
    frame, _ = read_all_sets()
    methods = sorted(set(frame.index.get_level_values(0)), key=lambda m: frame.loc[(m, 20), "rmae"])
    rows = []
    for method in methods:
        few, many = frame.loc[(method, 20)], frame.loc[(method, 100)]
        shares = [f"{each['coverage']:.0%}" for each in (few, many)]
        errors = [f"{each['rmae']:.2f}" for each in (few, many)]
        worse = f"{many['cells_above_1']} of {many['cells']}"
        rows.append([f"`{method}`", *errors, *shares, f"{few['width_ratio']:.2f}", worse])
    head = ["method", "error, 20 labels", "100 labels", "coverage, 20 labels", "100 labels"]
    return format_table([*head, "width, 20 labels", "cells worse than labels alone at 100"], rows)


def _format_cell(part: pd.DataFrame, metric: str, ours: bool) -> str:
    row = part[part["metric"] == metric]
    if row.empty:
        return ""
    names = ("mae", "ci95") if ours else ("paper", "paper_ci95")
    value, half = (100 * row[name].item() for name in names)
    mark = " ✓" if ours and row["verdict"].item() == REPRODUCES else ""
    return f"{value:.2f} ± {half:.2f}{mark}"


def _tabulate_beside_paper(dataset: str, methods: dict[str, str]) -> list[list[str]]:
    frame = read_result("ssme_paper")
    frame = frame[frame["dataset"] == dataset]
    rows = []
    for n in (20, 50, 100):
        for place, (method, title) in enumerate(methods.items()):
            part = frame[(frame["method"] == method) & (frame["n_labeled"] == n)]
            if place == 0:
                theirs = [_format_cell(part, metric, ours=False) for metric in CELLS]
                rows.append([dataset, str(n), "the paper", *theirs])
            rows.append(
                ["", "", title, *(_format_cell(part, metric, ours=True) for metric in CELLS)]
            )
    return rows


HEAD = ["set", "labels", "", "accuracy", "ECE", "AUC", "AUPRC"]


def tabulate_ssme() -> str:
    """SSME under both presets beside the paper's."""
    methods = {"ssme": "preset paper", "ssme, public code": "preset public_code"}
    return format_table(
        HEAD, [r for s in ("civilcomments", "multinli") for r in _tabulate_beside_paper(s, methods)]
    )


def tabulate_ssme_m() -> str:
    """SSME-M under both presets beside the paper's."""
    methods = {"ssme_m, public code": "preset public_code", "ssme_m": "preset paper"}
    return format_table(HEAD, _tabulate_beside_paper("civilcomments", methods))


def describe_theory() -> str:
    """The verdict of the Monte-Carlo study on theorem 1."""
    frame = read_result("theory")
    frame = frame[frame["applies"].astype(bool) & (frame["method"] == "ul_plus")]
    rows = []
    for world, part in frame.groupby("world", sort=False):
        held = (part["within"] >= 0.9).sum()
        rows.append([world, f"{held} of {len(part)}", f"{part['within'].min():.2f}"])
    head = ["scores", "settings with at least 90% of runs within the bound"]
    return format_table([*head, "lowest share of runs within"], rows)


def tabulate_rivals_intervals() -> str:
    """Coverage and width of the other methods' intervals."""
    frame = read_result("rivals_paper")
    frame = frame[frame["coverage"].notna() & ~frame["method"].isin(READINGS)]
    frame = frame[frame["n_labeled"] != 50]
    means = frame.groupby(["method", "n_labeled"], sort=False)[["coverage", "width"]].mean()
    cells = [f"{c:.2f} ({100 * w:.1f})" for c, w in means.to_numpy()]
    wide = pd.Series(cells, means.index).unstack(sort=False)
    rows = [[f"`{method}`", *row] for method, row in zip(wide.index, wide.to_numpy(), strict=True)]
    return format_table(["method", *(f"{n} labels" for n in wide.columns)], rows)


def tabulate_rivals_verdicts() -> str:
    """Cells of the paper's baselines by verdict, readings of ours left out."""
    frame = read_result("rivals_paper")
    frame = frame[frame["verdict"].notna() & ~frame["method"].isin(READINGS)]
    counts = frame.groupby("method")["verdict"].value_counts().unstack(fill_value=0)
    counts.columns = counts.columns.str.removeprefix("does not reproduce: ")
    rows = [
        [str(method), *map(str, row)]
        for method, row in zip(counts.index, counts.to_numpy(), strict=True)
    ]
    return format_table(["method", *counts.columns], rows)


ALIKE = ("f1_micro", "recall_macro", "roc_auc_ovr_weighted", "roc_auc_ovo")
"""Equal to, or much like, another metric."""


def tabulate_labeled_intervals() -> str:
    """Per metric and number of labels: coverage over sets, lowest set, mean width."""
    frame = read_result("labeled_intervals")
    frame = frame[~frame["metric"].isin(ALIKE)]
    rows: dict[str, list[str]] = {}
    for (metric, _), part in frame.groupby(["metric", "n_labeled"], sort=False):
        lowest = part.loc[part["coverage"].idxmin()]
        rows.setdefault(metric, [metric]).append(
            f"{part['coverage'].mean():.3f}, lowest {lowest['coverage']:.2f} ({lowest['set']}), "
            f"width {part['width'].mean():.2f}"
        )
    numbers = [f"{n} labels" for n in sorted(frame["n_labeled"].unique())]
    return format_table(["metric", *numbers], list(rows.values()))


def tabulate_posterior_intervals() -> str:
    """Per method and kind of draws: coverage over sets and metrics, and by set."""
    frame = read_result("posterior_intervals")
    sets, rows = list(frame["set"].unique()), []
    for (n, method, draws), part in frame.groupby(["n_labeled", "method", "draws"], sort=False):
        overall = [f"{part[name].mean():.3f}" for name in ("coverage", "width", "error")]
        by_set = part.groupby("set")["coverage"].mean()
        rows.append([method, draws, str(n), *overall, *(f"{by_set[name]:.2f}" for name in sets)])
    head = ["method", "draws", "labels", "coverage", "width", "error"]
    return format_table([*head, *sets], sorted(rows, key=lambda row: int(row[2])))


def tabulate_ppi_intervals() -> str:
    """Coverage of PPI's intervals beside that of its resamples, mean over sets and lowest set."""
    frame = read_result("ppi_intervals")
    rows = []
    for metric in ("ece", "average_precision", "roc_auc"):
        for n in (20, 100):
            part = frame[(frame["metric"] == metric) & (frame["n_labeled"] == n)]
            lowest = part.loc[part["coverage"].idxmin()]
            cells = [f"{part[name].mean():.2f}" for name in ("coverage", "width")]
            before = [f"{part[f'resampled_{name}'].mean():.2f}" for name in ("coverage", "width")]
            worst = f"{lowest['coverage']:.2f} ({lowest['set']})"
            rows.append([metric, str(n), cells[0], worst, cells[1], *before])
    head = ["metric", "labels", "coverage", "lowest set", "width"]
    return format_table([*head, "coverage of resamples", "their width"], rows)


def tabulate_bad_inputs() -> str:
    """Generated bad inputs by kind: how many, what became of them, and the command."""
    rows = []

    def add(kind: str, name: str, read: int, refused: int, faults: int, test: str) -> None:
        counts = [f"{each:,}" for each in (read + refused + faults, read, refused, faults)]
        rows.append([kind, *counts, f"`python -m benchmarks.fuzz.{name}`", f"`{test}`"])

    reader_test = "tests/data/readers/test_fuzz.py"
    files = ("fuzz_readers", "fuzz_jsonl", "fuzz_xlsx")
    found = [read_result(name) for name in files if (RESULTS / f"{name}.csv").exists()]
    for _, row in pd.concat(found).iterrows():
        faults = int(row[["uncaught", "disagreement", "hang", "abort"]].sum())
        kind = f"damaged and hostile {row['reader']} files"
        add(kind, "readers", row["read"], row["refused"], faults, reader_test)
    for _, row in read_result("fuzz_config").iterrows():
        faults = int(row["lost"] + row["uncaught"])
        kind = f"config files in {row['format'][1:].upper()}"
        add(kind, "config", row["read"], row["refused"], faults, "tests/test_fuzz_run.py")
    logs = read_result("fuzz_logs").drop(columns="seed").sum(numeric_only=True).astype(int)
    kind = "damaged logs of evaluation harnesses, eight formats"
    test = "tests/data/readers/test_logs.py"
    add(kind, "logs", logs["read"], logs["refused"], logs["uncaught"], test)
    lines = read_result("fuzz_command_line").sum(numeric_only=True).astype(int)
    read, faults = lines["done"] + lines["failed"], lines["uncaught"]
    kind = "invalid values for every option of every command"
    add(kind, "command_line", read, lines["refused"], faults, "tests/test_fuzz_run.py")
    kept = {
        "checkpoint": "checkpoints of a stream",
        "memory": "memories of a project (SQLite)",
        "store": "stores of a benchmark",
    }
    for name, kind in kept.items():
        if not (RESULTS / f"fuzz_{name}.csv").exists():
            continue
        sums = read_result(f"fuzz_{name}").drop(columns="seed").sum(numeric_only=True).astype(int)
        wrong = ("not_named", "wrong_number", "uncaught", "hang")
        faults = sum(sums.get(each, 0) for each in wrong)
        read = sums["read"] + sums.get("read_changed", 0)
        test = "tests/fuzz/test_store_and_checkpoint.py"
        if name == "memory":
            test = "tests/memory/test_hostile_files.py"
        add(f"damaged {kind}", name, read, sums["refused"], faults, test)
    names = read_result("fuzz_names").sum(numeric_only=True).astype(int)
    faults = names["exceptions"] + names["unsafe"] + names["aborts"]
    kind = "hostile names, in every output (tables, pages, charts)"
    add(kind, "names", names["cases"] - faults, 0, faults, "tests/show/test_fuzzed_names.py")
    head = ["kind", "inputs", "read or shown", "refused", "faults", "command"]
    return format_table([*head, "sample in the tests"], rows)


def tabulate_mutation() -> str:
    """Mutants by group: drawn, killed, equivalent, and the shares."""
    rows, summary = [], read_result("mutation_summary")
    for _, row in summary.iterrows():
        counts = [f"{int(row[name]):,}" for name in ("mutants", "sampled", "killed", "equivalent")]
        different = f"{row['killed_of_different']:.1%} ({row['low']:.0%} to {row['high']:.0%})"
        rows.append([row["group"], *counts, f"{row['killed_share']:.1%}", different])
    head = ["files", "possible mutants", "drawn", "killed", "equivalent", "killed of all"]
    total = summary.iloc[-1]
    told = (
        f"Of {int(total['sampled']):,} mutants {int(total['killed']):,} were killed. These are "
        f"{total['killed_share']:.1%} of all mutants, and {total['killed_of_different']:.1%} of "
        f"those that are not equivalent (95% interval {total['low']:.0%} to {total['high']:.0%})."
    )
    return (
        f"{told}\n\n{format_table([*head, 'killed of those that are not equivalent (95%)'], rows)}"
    )


def tabulate_survivors() -> str:
    """Mutants that no test killed: how many of each kind, and each with its reason."""
    frame = read_result("mutation")
    frame = frame[frame["outcome"] != "killed"].fillna("")
    counts, rows = [], []
    for kind, meaning in KINDS.items():
        of = frame[frame["kind"] == kind]
        if not len(of):
            continue
        counts.append([kind, meaning, str(len(of)), "yes" if kind in EQUIVALENT else "no"])
        for _, row in of.iterrows():
            code = f"`{row['file']}`: {_as_code(row['code'])}"
            change = f"{_as_code(row['before'])} becomes {_as_code(row['after'])}"
            rows.append([kind, code, change, row["reason"] or "no test notices it"])
    kinds = format_table(["kind", "why it survives", "survivors", "equivalent"], counts)
    return f"{kinds}\n\n{format_table(['kind', 'where', 'change', 'reason'], rows)}"


def _as_code(text: str) -> str:
    return f"`{str(text).replace('|', chr(92) + '|')}`"


def tabulate_coverage() -> str:
    """Lines and branches that the tests run, by room."""
    counted = read_result("coverage")
    rows = [
        [
            row["room"],
            f"{int(row['lines']):,}",
            f"{row['line_share']:.1%}",
            f"{int(row['branches']):,}",
            f"{row['branch_share']:.1%}",
            f"{row['share']:.1%}",
        ]
        for _, row in counted.iterrows()
    ]
    total = counted.iloc[-1]
    told = (
        f"The tests run {total['line_share']:.1%} of all lines and take "
        f"{total['branch_share']:.1%} of all branches. Together, as coverage.py counts them, this "
        f"is {total['share']:.1%}."
    )
    table = format_table(["package or module", "lines", "run", "branches", "taken", "both"], rows)
    return f"{told}\n\n{table}"


TABLES: dict[str, Parts] = {
    "README.md": {"all sets": tabulate_all_sets},
    "docs/choosing.md": {"choosing": tabulate_choosing},
    "benchmarks/evidence/intervals.md": {
        "labeled intervals": tabulate_labeled_intervals,
        "posterior intervals": tabulate_posterior_intervals,
        "ppi intervals": tabulate_ppi_intervals,
    },
    "benchmarks/evidence/reliability.md": {
        "bad inputs": tabulate_bad_inputs,
        "mutation": tabulate_mutation,
        "survivors": tabulate_survivors,
        "coverage": tabulate_coverage,
    },
    "benchmarks/evidence/ssme.md": {
        "ssme": tabulate_ssme,
        "ssme_m": tabulate_ssme_m,
    },
    "docs/theory.md": {"theory": describe_theory},
    "benchmarks/evidence/rivals.md": {
        "rivals intervals": tabulate_rivals_intervals,
        "rivals verdicts": tabulate_rivals_verdicts,
    },
}
"""The tables of this module by page, each between marks with ``results`` before its name."""


def _enclose(make: Callable[[], str]) -> Callable[[], str]:
    return lambda: f"\n{make()}\n\n"


def list_parts() -> dict[str, Parts]:
    """What is between which marks of which page; each part is made once."""
    own = {
        page: {f"results {name}": _enclose(make) for name, make in tables.items()}
        for page, tables in TABLES.items()
    }
    answers = {"benchmarks/evidence/answers.md": answers_tables.TABLES}
    every = own | answers | auto_tables.PARTS | decide_page.PARTS
    return {
        page: {name: functools.cache(make) for name, make in parts.items()}
        for page, parts in every.items()
    }


PARTS = list_parts()


def find_problems(root: Path = TOP) -> list[str]:
    """Every table and figure of the documents under ``root`` that its result does not hold."""
    listed = read_constants()
    found = []
    for path in list_pages(root):
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(root))
        numbers = listed.get(name, Counter())
        found += [f"{name}{each}" for each in find_problems_of_page(name, text, numbers)]
    return found


def find_problems_of_page(name: str, text: str, listed: Counter[str]) -> list[str]:
    """What is wrong with a page, each with what follows the page's name."""
    found = []
    if renew(text, PARTS.get(name, {})) != text:
        found.append(": a table differs: run python -m benchmarks.quotes")
    found += [f": {each}" for each in check_quotes(text)]
    found += [
        f", line {text.count(chr(10), 0, each.start()) + 1}: {each[1]} has no mark"
        for each in find_unmarked(text)
    ]
    wrong = compare_constants(text, listed)
    return found + [f": {each}: is it right? python -m benchmarks.quotes --fill" for each in wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--fill", action="store_true", help="list numbers without a result anew")
    args = parser.parse_args()
    if not args.check:
        for path in list_pages(TOP):
            parts = PARTS.get(str(path.relative_to(TOP)), {})
            text = requote(renew(path.read_text(encoding="utf-8"), parts))
            path.write_text(text, encoding="utf-8")
    if args.fill:
        print("\n".join(fill_constants()))
    found = find_problems()
    print("\n".join(found) or "every figure is that of its result or of the list of constants")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

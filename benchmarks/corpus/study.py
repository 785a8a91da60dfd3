"""Methods on one part of the corpus: errors, intervals and the pick, by pattern of panel.

    python -m benchmarks.corpus.study --part choose --runs 2
    python -m benchmarks.corpus.study --part shared --runs 3

writes ``benchmarks/results/corpus_PART.csv`` (errors, coverage, width, bias and coverage of the
best classifier, regret of the pick and warnings, by pattern and over all of them),
``corpus_PART_sources.csv`` (coverage by family of tables, and by how much all intervals would have
to be wider to hold in 95% of its cells) and ``corpus_PART_warnings.csv`` (how often each warning
was raised, on sound and on altered panels). Cells are kept under
``.benchmarks-cache/cells``: a run that was stopped goes on, and only what is missing is computed.

The rows that are seen are drawn from all rows of a panel, one of every class labeled first, and the
truth is the metric on all rows, seen or not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.auto.study import compute, compute_rmae, make_parser, write
from benchmarks.corpus.panels import list_panels, load_panel
from benchmarks.corpus.sources import PARTS
from benchmarks.datasets.registry import load_dataset
from benchmarks.studies import Protocol, Runner, Scene, Study
from ssme.arrays import FloatArray, IntArray
from ssme.bench.protocol import Split
from ssme.bench.runner import Truth
from ssme.data.scoreset import ScoreSet
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

UNLABELED_ROWS, SEEN_SHARE = 1000, 0.6
ALTERED = ("answers", "flattened", "sharpened", "near-copies", "two")
"""Patterns on which a warning has a cause: altered scores, copies, and two classifiers only."""

SHARED, SHARED_ROWS = "shared", 6000
"""The sets that `auto` was developed on, as one more part; so many rows of each give the truth."""


@dataclass(frozen=True)
class CorpusScene(Scene):
    """Tables may be small: at most 60% of the rows are seen, and all of them give the truth."""

    name: str = "corpus"

    def split(
        self,
        labels: IntArray,
        n_labeled: int,
        n_unlabeled: int,
        run: int,
        /,
        *,
        seed: int,
        dataset: str,
    ) -> Split:
        order = np.random.default_rng([seed, crc32(dataset.encode()), run]).permutation(len(labels))
        first = np.unique(labels[order], return_index=True)[1]
        order = np.concatenate([order[np.sort(first)], np.delete(order, np.sort(first))])
        seen = min(n_labeled + n_unlabeled, int(SEEN_SHARE * len(labels)))
        return Split(order[:n_labeled], order[n_labeled:seen], np.arange(len(labels)))


def measure(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """Per metric: errors and intervals of all classifiers and of the best, regret of the pick.

    ``missed`` is the share of classifiers whose truth lies outside the interval, and the estimate
    from labels alone too.
    """
    rows, codes = [], {True: "", False: ""}
    for note in codes:
        raised = {each.code for each in result.warnings if (each.severity == "note") == note}
        codes[note] = " ".join(sorted(raised))
    for metric, ours, labels in zip(
        result.metrics, result.estimates[0], result.labels_only[0], strict=True
    ):
        exact = np.array([truth[ALL, metric.name, model] for model in result.data.models])
        sign = 1.0 if metric.greater_is_better else -1.0
        best = int(np.nanargmax(sign * exact))
        low, high = ours.interval()
        labels_low, labels_high = labels.interval()
        held = (low <= exact) & (exact <= high)
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.maximum((exact - ours.value) / (high - ours.value), 0.0)
            off = np.fmax(off, (ours.value - exact) / (ours.value - low))
        rows.append(
            {
                "metric": metric.name,
                "warnings": codes[False],
                "notes": codes[True],
                "error": float(np.abs(ours.value - exact).mean()),
                "bias": float((ours.value - exact).mean()),
                "labels_error": float(np.abs(labels.value - exact).mean()),
                "covered": float(held.mean()),
                "off": float(np.nanquantile(np.minimum(off, 100.0), 0.95, method="higher")),
                "width": float((high - low).mean()),
                "labels_width": float((labels_high - labels_low).mean()),
                "best_covered": float(held[best]),
                "best_bias": float(ours.value[best] - exact[best]),
                "regret": find_regret(ours.value, exact, sign),
                "labels_regret": find_regret(labels.value, exact, sign),
                "missed": float(
                    ((labels.value < low) | (labels.value > high))[~held].sum() / max(held.size, 1)
                ),
            }
        )
    return rows


def find_regret(value: FloatArray, exact: FloatArray, sign: float) -> float:
    """How much worse the pick is than the best, mean over picks that are tied."""
    size = sign * np.nan_to_num(value, nan=-np.inf if sign > 0 else np.inf)
    picked = np.flatnonzero(size == size.max())
    return float((sign * exact).max() - (sign * exact)[picked].mean())


def plan(
    variants: dict[str, tuple[str, dict[str, Any]]], part: str, labels: list[int], runs: int
) -> Study:
    """The study of methods with options, by the names they have in the tables."""
    protocol = Protocol(variants, n_labeled=tuple(labels), n_unlabeled=(UNLABELED_ROWS,), runs=runs)
    if part == SHARED:
        return Study(Runner(protocol, load_shared, measure, CorpusScene()), tuple(SETS))
    return Study(Runner(protocol, load_panel, measure, CorpusScene()), tuple(list_panels(part)))


def load_shared(name: str) -> ScoreSet:
    """A development set, its first rows."""
    data = load_dataset(name)
    return data.take(np.arange(min(data.n_rows, SHARED_ROWS)))


def name_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a study with the pattern and the family of tables of each."""
    if "/" not in frame["dataset"].iloc[0]:
        return frame.assign(pattern=SHARED, family=frame["dataset"])
    names = frame["dataset"].str.split("/", expand=True)
    family = names[1].str.split("__").str[0]
    return frame.assign(pattern=names[2], family=family)


def summarize(frame: pd.DataFrame) -> pd.DataFrame:
    """A line per variant, number of labels, pattern and metric; errors are geometric means over
    tables of error / error of labels alone."""
    cells = compute_rmae(frame).merge(
        frame[["dataset", "pattern"]].drop_duplicates(), on="dataset", validate="many_to_one"
    )
    cells = cells[np.isfinite(cells["rmae"]) & (cells["rmae"] > 0.0)]
    cells["log_rmae"] = np.log(cells["rmae"].clip(0.02, 50.0))
    frame = frame.assign(width_ratio=frame["width"] / frame["labels_width"])
    values = ["covered", "width", "best_covered", "best_bias", "regret", "labels_regret"]
    frame = frame.assign(warned=frame["warnings"].ne(""))
    lines = []
    for keys in (["pattern", "metric"], ["pattern"], ["metric"], []):
        by = ["variant", "n_labeled", *keys]
        line = frame.groupby(by)[[*values, "warned", "missed"]].mean()
        line["labels_width"] = frame.groupby(by)["labels_width"].mean()
        line.insert(0, "error", np.exp(cells.groupby(by)["log_rmae"].mean()))
        line["cells"] = cells.groupby(by).size()
        line = line.reset_index()
        lines.append(
            line.assign(**{key: "all" for key in ("pattern", "metric") if key not in keys})
        )
    first = ["variant", "n_labeled", "pattern", "metric", "error"]
    out = pd.concat(lines, ignore_index=True)
    return out[[*first, *(column for column in out if column not in first)]]


def cover_by_family(frame: pd.DataFrame) -> pd.DataFrame:
    """Coverage and error over the panels of each family of tables."""
    sums = frame.groupby(["variant", "n_labeled", "family"])
    out = sums[["covered", "error", "labels_error"]].mean()
    out["error"] /= out.pop("labels_error")
    out["factor"] = sums["off"].quantile(0.95)
    return out.reset_index()


def count_warnings(frame: pd.DataFrame) -> pd.DataFrame:
    """Share of the panels on which each warning was raised, and any that is more than a note."""
    frame = frame.assign(altered=frame["pattern"].isin(ALTERED))
    once = frame.groupby(["variant", "n_labeled", "altered", "dataset", "run"]).first()
    text = once["warnings"] + " " + once["notes"]
    for code in sorted({code for each in text for code in each.split()}):
        once[code] = text.str.contains(code).astype(float)
    codes = [column for column in once if str(column).startswith("D")]
    once["any"] = once["warnings"].ne("").astype(float)
    sums = once.groupby(["variant", "n_labeled", "altered"])
    out = sums[["any", *codes]].mean()
    out.insert(0, "panels", sums.size())
    return out.reset_index()


def show(table: pd.DataFrame) -> str:
    """All metrics together, and accuracy and average precision, by pattern."""
    some = table[table["metric"].isin(["all", "accuracy", "roc_auc", "average_precision"])]
    return str(some.round(3).to_string(index=False))


def main() -> None:
    parser = make_parser(__doc__, runs=1, labels=[20, 100])
    parser.add_argument("--part", choices=[*PARTS, SHARED], required=True)
    parser.add_argument("--patterns", nargs="+", help="some of the patterns; all by default")
    parser.add_argument(
        "--methods", type=json.loads, default={"auto": ["auto", {}]}, help="variants, as JSON"
    )
    parser.add_argument("--name", help="of the result (default: corpus_PART)")
    args = parser.parse_args()
    variants = {name: (method, options) for name, (method, options) in args.methods.items()}
    study = plan(variants, args.part, args.labels, args.runs)
    if args.patterns:
        names = [name for name in study.datasets if name.split("/")[2] in args.patterns]
        study = Study(study.runner, tuple(names))
    name = args.name or f"corpus_{args.part}"
    found = compute([study], name, args.workers, leave_out=True)
    frame = name_cells(found.rows)
    table = summarize(frame)
    tables = {name: table, f"{name}_sources": cover_by_family(frame)}
    write({**tables, f"{name}_warnings": count_warnings(frame)}, found.times)
    print(show(table))


if __name__ == "__main__":
    main()

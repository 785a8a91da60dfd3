"""Every claim, table and figure of the paper: what it says, what our runs give, and the verdict.

    python -m benchmarks.claims             # the table of REPORT.md with each line's command
    python -m benchmarks.claims --renew     # figures over all of the paper's sets, from its tables

``paper_tables/claims.csv`` has what the paper says and the cause of a difference, one line each;
the functions below compute what our runs give. Verdicts follow one rule each and are computed from
the committed results whenever the report is made or checked:

- a figure reproduces within 15% of the paper's tables on the same set, or of its text where there
  is no table; a count reproduces if it is equal;
- cells of a table reproduce where the difference is within the sum of the two half-widths;
- a claim that one error is smaller than another is confirmed or refuted if the difference exceeds
  the sum of the two half-widths, and is within the noise otherwise; over several pairs it is
  confirmed if it is for each, refuted if more are refuted than confirmed;
- a claim that errors do not differ is refuted by any pair that differs by more than that sum.

"N times" is the mean over tasks and metrics of (error of labels alone) / (error of the method),
which gives the paper's 5.1; for language models it is 1 / mean RMAE, which gives its 2.3.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.experiment import RESULTS, ROOT
from benchmarks.paper import PAPER_METHODS, PAPER_NAMES, REPRODUCES, judge_rows, read_paper_file
from benchmarks.paper import read_paper_table as read_whole_paper
from benchmarks.provenance import read as read_provenance

CLOSE = 0.15
CELL = ["dataset", "metric", "n_labeled"]
METRICS = {"accuracy": "accuracy", "ece": "ECE", "roc_auc": "AUC", "average_precision": "AUPRC"}
MULTICLASS = ("MultiNLI", "AG News")
SHORT = {"PL": "pseudo-labels", "BC": "Bayesian calibration"}
"""What abbreviations of the paper mean."""
CONFIRMED, REFUTED, NOISE = "confirmed", "refuted", "within the noise"
PARTLY, FAILS, ABSENT = "reproduces in part", "does not reproduce", "cannot be had"
STAND_IN, FIT = "not comparable", "a fit"


@dataclass(frozen=True)
class Claim:
    """One line of the report's table."""

    key: str
    part: str
    claim: str
    paper: str
    ours: str
    verdict: str
    cause: str
    experiment: str


@lru_cache
def read_result(name: str) -> pd.DataFrame:
    """A committed result, its cells judged anew where the paper has them."""
    frame = pd.read_csv(RESULTS / f"{name}.csv")
    if "paper_ci95" in frame:
        frame["verdict"] = judge_rows(frame)
    return frame


def judge(ours: float, theirs: float) -> str:
    """The verdict on a figure."""
    if abs(ours - theirs) <= CLOSE * abs(theirs):
        return REPRODUCES
    return f"{FAILS}: {'higher' if ours > theirs else 'lower'} here"


def tell_judged(ours: float, theirs: float) -> str:
    """A figure and whether it reproduces."""
    return f"{ours:.2f}, {judge(ours, theirs).partition(':')[0]}"


def judge_order(small: Any, large: Any) -> str:
    """Whether the error of one row, with ``mae`` and ``ci95``, is smaller than that of another."""
    noise = small["ci95"] + large["ci95"]
    if pd.isna(noise):
        return "unknown"
    if small["mae"] < large["mae"] - noise:
        return CONFIRMED
    return REFUTED if small["mae"] > large["mae"] + noise else NOISE


def judge_orders(words: list[str]) -> str:
    """One verdict for several verdicts of `judge_order`."""
    confirmed, refuted = words.count(CONFIRMED), words.count(REFUTED)
    if confirmed == len(words):
        return CONFIRMED
    if not confirmed and not refuted:
        return NOISE
    return REFUTED if refuted > confirmed else PARTLY


def count_differences(pairs: Iterable[tuple[Any, Any]]) -> tuple[int, int]:
    """How many pairs of errors differ beyond noise, and how many there are."""
    words = [judge_order(*pair) for pair in pairs]
    return len(words) - words.count(NOISE), len(words)


def judge_equal(different: int) -> str:
    """The verdict on a claim that errors do not differ."""
    return REFUTED if different else CONFIRMED


def judge_counts(right: int, of: int) -> str:
    """The verdict on so many cells."""
    return REPRODUCES if right == of else PARTLY if right else FAILS


def judge_all(verdicts: list[str]) -> str:
    """One verdict for several figures of a claim."""
    return judge_counts(verdicts.count(REPRODUCES), len(verdicts))


def join_presets(verdicts: Iterable[str]) -> str:
    """Two verdicts, as under `paper` and `public_code`; one where they are the same."""
    return " / ".join(dict.fromkeys(verdicts))


# -------------------------------------------------------------------------------------------------
# Statistics of a table of errors, the paper's or ours: rows are cells, columns the paper's methods.


def tabulate(frame: pd.DataFrame, value: str = "mae") -> pd.DataFrame:
    return frame.pivot_table(index=CELL, columns="method", values=value)


@lru_cache
def read_ours() -> pd.DataFrame:
    """Our main tables, sets and methods named as in the paper."""
    frame = read_result("main_tables").assign(
        dataset=lambda f: f["dataset"].map(PAPER_NAMES),
        method=lambda f: f["method"].map(PAPER_METHODS),
    )
    return frame.dropna(subset=["method"])


def read_theirs() -> pd.DataFrame:
    """The paper's figures on our sets, as the committed main tables have them."""
    ours = read_ours().dropna(subset=["paper"])
    return ours.drop(columns=["mae", "ci95"]).rename(columns={"paper": "mae", "paper_ci95": "ci95"})


def compute_gains(frame: pd.DataFrame, n_labeled: int = 20) -> pd.DataFrame:
    """(error of labels alone) / (error of the method), cells by method."""
    at = tabulate(frame).xs(n_labeled, level="n_labeled")
    return (1.0 / at.div(at["Labeled"], axis=0)).drop(columns="Labeled")


def leave_out_ours(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=["SSME", "SSME-M", "Labeled"], errors="ignore")


def find_best(frame: pd.DataFrame, without: str = "") -> pd.DataFrame:
    """By cell: whether SSME is on par with the best of the others, or better, and who that is."""
    kept = frame[frame["method"] != without]
    error, half = tabulate(kept), tabulate(kept, "ci95").fillna(0.0)
    others = error.drop(columns="SSME")
    best, names = others.min(axis=1), others.idxmin(axis=1)
    noise = half["SSME"] + [half.loc[cell, name] for cell, name in names.items()]
    par, better = error["SSME"] - best <= noise, best - error["SSME"] > noise
    return pd.DataFrame({"on par": par, "better": better, "best": names})


def summarize_errors(frame: pd.DataFrame) -> dict[str, float]:
    """Every statistic of the binary tasks that the text names, from a table of errors."""
    gains, cells = compute_gains(frame), tabulate(frame).xs(20, level="n_labeled")
    others = leave_out_ours(gains)
    found = {"gain": gains["SSME"].mean(), "next": others.mean().max()}
    found["over BC"] = (cells["BC"] / cells["SSME"]).mean()
    best = find_best(frame)
    found |= {name: best[name].sum() for name in ("on par", "better")}
    by_metric, errors = gains["SSME"].groupby("metric").mean(), cells.groupby("metric").mean()
    for metric in METRICS:
        found[f"gain {metric}"] = by_metric[metric]
        found[f"inverse {metric}"] = 1.0 / (1.0 / gains["SSME"].xs(metric, level="metric")).mean()
        found[f"next {metric}"] = others.groupby("metric").mean().loc[metric].max()
        found[f"error {metric}"] = 100 * errors.loc[metric, "SSME"]
        found[f"best {metric}"] = 100 * leave_out_ours(errors).loc[metric].min()
    for n in (20, 50, 100):
        at = tabulate(frame).xs(n, level="n_labeled")
        found[f"gain {n}"] = compute_gains(frame, n)["SSME"].mean()
        accuracy = at.xs("accuracy", level="metric")
        found[f"gain accuracy {n}"] = (accuracy["Labeled"] / accuracy["SSME"]).mean()
        found[f"ratio accuracy {n}"] = accuracy["Labeled"].mean() / accuracy["SSME"].mean()
    both = tabulate(frame)
    found["below SSME-M"] = (both["SSME"] < both["SSME-M"]).sum()
    return {name: float(value) for name, value in found.items()}


def renew() -> None:
    """Keep the statistics over all of the paper's sets, which need its whole table."""
    paper = read_whole_paper().rename(columns={"paper": "mae", "paper_ci95": "ci95"})
    many = paper["dataset"].isin(MULTICLASS)
    found = summarize_errors(paper[~many])
    llm = compute_gains(paper[many])
    for method in ("SSME", "Majority-Vote"):
        found[f"language {method}"] = 1.0 / (1.0 / llm[method]).mean()
    best = find_best(paper[many])
    for name in ("on par", "better"):
        found[f"language {name}"] = best[name].sum()
    table = pd.DataFrame({"statistic": list(found), "value": list(found.values())})
    table.to_csv(ROOT / "paper_tables" / "all_sets.csv", index=False, float_format="%.5g")


# -------------------------------------------------------------------------------------------------
# What our runs give, part by part: the key of a claim, our figure, the verdict, and further figures
# that the texts of claims.csv name in braces.

Found = tuple[str, str, str, dict[str, Any]]
CHECKS: list[Callable[[], Iterator[Found]]] = []


def register(function: Callable[[], Iterator[Found]]) -> Callable[[], Iterator[Found]]:
    CHECKS.append(function)
    return function


def join(values: Iterable[float], digits: int = 2, scale: float = 1.0) -> str:
    return ", ".join(f"{scale * value:.{digits}f}" for value in values)


@register
def check_binary_tasks() -> Iterator[Found]:
    every = read_paper_file("all_sets").set_index("statistic")["value"]
    here, there = (
        frame[frame["dataset"] == PAPER_NAMES["civilcomments"]]
        for frame in (read_ours(), read_theirs())
    )
    ours, same = summarize_errors(here), summarize_errors(there)
    cut = summarize_errors(replace_votes(here))
    names = ["gain", "next", "over BC", "next accuracy", "next roc_auc"]
    for name in (*names, *(f"gain {metric}" for metric in METRICS)):
        facts = {"same": same[name], "every": every[name]}
        facts["inverse"] = every.get(name.replace("gain", "inverse"))
        facts["cut"] = tell_judged(cut[name], same[name])
        if name == "over BC":
            facts |= {"ratio": every["gain"] / every["next"]}
            tighter = summarize_errors(replace_calibration(here))[name]
            facts["cut"] = tell_judged(tighter, same[name])
        yield name, f"{ours[name]:.2f}", judge(ours[name], same[name]), facts
    better = find_best(here)
    for name in ("on par", "better"):
        facts = {"same": same[name], "every": every[name], "cut": f"{cut[name]:.0f}"}
        beaten = better[~better["on par"]].reset_index()
        facts["beaten"] = ", ".join(sorted(set(beaten["best"].replace(SHORT))))
        facts["at"] = ", ".join(map(str, sorted(set(beaten["n_labeled"]))))
        verdict = REPRODUCES if ours[name] == same[name] else FAILS
        yield name, f"{ours[name]:.0f} of 12", verdict, facts
    for metric in METRICS:
        pair = [f"error {metric}", f"best {metric}"]
        verdict = judge_all([judge(ours[name], same[name]) for name in pair])
        facts = {"same": join(same[name] for name in pair)}
        facts["cut"] = tell_judged(cut[pair[1]], same[pair[1]])
        yield f"errors {metric}", join(ours[name] for name in pair), verdict, facts
    by_labels = [f"gain {n}" for n in (20, 50, 100)]
    mixed = ("gain accuracy 20", "gain 50", "ratio accuracy 100")
    facts = {"same": join(same[name] for name in by_labels), "mixed": join(every[list(mixed)])}
    facts["one"] = join(every[by_labels])
    verdict = judge_all([judge(ours[name], same[name]) for name in by_labels])
    yield "labels", join(ours[name] for name in by_labels), verdict, facts
    at = "n_labeled == 20 and metric == 'ece' and dataset == 'civilcomments'"
    size = read_result("ess").query(at).set_index("method")["ess"]
    rivals = size[[m for m in size.index if m in PAPER_METHODS]].drop(["labeled", "ssme", "ssme_m"])
    yield "ess", f"{size['ssme']:.0f}", STAND_IN, {}
    yield "ess next", f"{rivals.max():.0f}", STAND_IN, {"best": rivals.idxmax()}
    table = tabulate(read_result("ssme_paper").query("dataset == 'civilcomments'"))
    for preset, suffix in (("paper", ""), ("public_code", ", public code")):
        right = int((table[f"ssme{suffix}"] < table[f"ssme_m{suffix}"]).sum())
        verdict = REPRODUCES if right == same["below SSME-M"] else FAILS
        facts = {"every": every["below SSME-M"], "same": same["below SSME-M"]}
        yield f"ssme_m {preset}", f"{right} of 12", verdict, facts


@register
def check_case_studies() -> Iterator[Found]:
    ours, theirs = (f.query("dataset == 'MultiNLI'") for f in (read_ours(), read_theirs()))
    every = read_paper_file("all_sets").set_index("statistic")["value"]
    mmlu = read_result("llm").query("dataset == 'mmlupro_llm_logit'")
    mmlu = mmlu.assign(method=mmlu["method"].map(PAPER_METHODS)).dropna(subset=["method"])
    for method in ("SSME", "Majority-Vote"):
        here, there, other = (
            1.0 / (1.0 / compute_gains(frame)[method]).mean() for frame in (ours, theirs, mmlu)
        )
        facts = {"same": there, "other": other, "runs": ours["runs"].min()}
        yield f"language {method}", f"{here:.2f}", judge(here, there), facts
    for name in ("better", "on par"):
        here, there = (int(find_best(frame)[name].sum()) for frame in (ours, theirs))
        verdict = REPRODUCES if here == there else FAILS
        facts = {"same": there, "every": every[f"language {name}"]}
        yield f"language {name}", f"{here} of 6", verdict, facts
    groups = read_result("subgroups").query("dataset == 'adult' and method == 'ssme'")
    said = read_paper_file("subgroups").set_index("method").loc["ssme"]
    for row in groups.itertuples():
        facts = {"said": 1 / said[row.category]}
        yield f"subgroups {row.category}", f"{1 / row.rmae:.1f}", STAND_IN, facts


@register
def check_tables_of_errors() -> Iterator[Found]:
    truth = read_result("ground_truth").dropna(subset=["paper"])
    known = truth[truth["model"] != "all"]
    gap = 100 * (known["ours"] - known["paper"]).abs()
    near = int(((known["ours"] / known["paper"] - 1.0).abs() <= CLOSE).sum())
    pairs = truth[(truth["model"] == "all") & (truth["dataset"] == "civilcomments")].iloc[0]
    told = f"{len(gap)} within {gap.max():.2f} points"
    verdict = judge_counts(near, len(known))
    yield "truth", told, verdict, {"ours": pairs["ours"], "theirs": pairs["paper"]}
    columns = [(name, "main_tables") for name in PAPER_METHODS]
    columns += [(f"{name}, public code", "ssme_paper") for name in ("ssme_m", "ssme")]
    for method, experiment in columns:
        frame = read_result(experiment).dropna(subset=["paper"])
        frame = frame[frame["method"] == method]
        right, of = int((frame["verdict"] == REPRODUCES).sum()), len(frame)
        look = {"majority_vote": find_best_vote, "bayesian_calibration": count_tighter_prior}
        facts = look[method]() if method in look else {}
        yield f"column {method}", f"{right} of {of}", judge_counts(right, of), facts
    table = read_result("per_classifier").dropna(subset=["paper_estimate", "paper_spread"])
    allowed = (table["spread"] + table["paper_spread"]) / np.sqrt(table["runs"])
    table["right"] = (table["estimate"] - table["paper_estimate"]).abs() <= allowed
    for metric, part in table.groupby("metric"):
        own = part.loc[part["method"] == "ssme", "right"]
        right, of = int(part["right"].sum()), len(part)
        told = f"{right} of {of}; SSME {own.sum()} of {len(own)}"
        rest = part.loc[~part["right"], "method"].map(PAPER_METHODS).replace(SHORT)
        facts = {"rest": ", ".join(sorted(set(rest)))}
        yield f"classifiers {metric}", told, judge_counts(right, of), facts
    yield from check_fixed_budget()


def find_best_vote() -> dict[str, Any]:
    """Of all rules tried by which votes may become labels, that with most of the paper's cells."""
    fixed = read_result("rivals_causes").rename(columns={"reading": "rule"})
    fixed = fixed[fixed["rule"].str.contains("vote")]
    ours = pd.concat([fixed, read_result("vote_rules")])
    theirs = read_theirs().query("method == 'Majority-Vote' and dataset == 'Toxicity Detection'")
    both = ours.merge(theirs, on=["n_labeled", "metric"], suffixes=("", "_paper"))
    right = (both["mae"] - both["mae_paper"]).abs() <= both["ci95"] + both["ci95_paper"]
    counts = right.groupby(both["rule"]).sum()
    errors = ours[ours["rule"] == counts.idxmax()].set_index(["n_labeled", "metric"])
    plain = tabulate(read_ours().query("dataset == 'Toxicity Detection'"))["Majority-Vote"]
    published = tabulate(theirs)["Majority-Vote"]
    return {
        "vote": (plain / published).mean(),
        "rules": len(counts),
        "best": counts.idxmax(),
        "right": counts.max(),
        "errors": errors[["mae", "ci95"]],
    }


def replace_votes(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of our errors on CivilComments with majority vote by the rule that fits the paper."""
    return replace_errors(frame, "Majority-Vote", find_best_vote()["errors"])


def replace_errors(frame: pd.DataFrame, method: str, errors: pd.DataFrame) -> pd.DataFrame:
    """``frame`` with other errors of a method, by number of labels and metric."""
    chosen = frame["method"] == method
    at = pd.MultiIndex.from_frame(frame.loc[chosen, ["n_labeled", "metric"]])
    changed = frame.copy()
    for name in ("mae", "ci95"):
        changed.loc[chosen, name] = errors.loc[at, name].to_numpy()
    return changed


def read_tighter_prior() -> pd.DataFrame:
    """Bayesian calibration with the narrower prior of `rivals_paper`, on CivilComments."""
    return read_result("rivals_paper").query("method == 'bayesian_calibration, tighter prior'")


def replace_calibration(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of our errors on CivilComments with the narrower prior."""
    return replace_errors(frame, "BC", read_tighter_prior().set_index(["n_labeled", "metric"]))


def count_tighter_prior() -> dict[str, Any]:
    """Cells of Bayesian calibration that reproduce with the narrower prior."""
    tighter = read_tighter_prior()
    return {"right": int((tighter["verdict"] == REPRODUCES).sum()), "cells": len(tighter)}


def check_fixed_budget() -> Iterator[Found]:
    """Active testing if its number of labels is fixed: the number that fits both sets best."""
    ours = read_result("active_testing").query("reading == 'uniform share 0.5'")
    theirs = read_theirs().query("method == 'Active-Testing'").sort_values("n_labeled")
    theirs = theirs.drop(columns="n_labeled")
    both = ours.assign(dataset=ours["dataset"].map(PAPER_NAMES)).merge(
        theirs, on=["dataset", "metric"], suffixes=("", "_paper")
    )
    both["gap"] = (both["mae"] - both["mae_paper"]).abs()
    both["right"] = both["gap"] <= both["ci95"] + both["ci95_paper"]
    fits = both.groupby("n_labeled").agg(right=("right", "sum"), gap=("gap", "mean"))
    best = fits.sort_values(["right", "gap"], ascending=[False, True]).index[0]
    fitting = fits.index[fits["right"] == fits["right"].max()]
    facts = {"best": best, "least": fitting.min(), "most": fitting.max()}
    for dataset, title in PAPER_NAMES.items():
        error = ours[ours["dataset"] == dataset].set_index("n_labeled")["mae"]
        right = both[(both["dataset"] == title) & (both["n_labeled"] == best)]["right"].sum()
        told = f"{100 * error[best]:.2f} with {best} labels, {100 * error[20]:.2f} with 20"
        said = theirs[theirs["dataset"] == title]["mae"]
        verdict = f"{FIT}: {judge_counts(int(right), 3)}"
        yield f"asked {dataset}", told, verdict, facts | {"said": join(said, scale=100)}


@register
def check_choices() -> Iterator[Found]:
    at = "metric in ('accuracy', 'ece')"
    kinds = read_result("kernels").query(f"{at} and method != 'ensemble'")
    told, verdicts = [], []
    for _, part in kinds.groupby(kinds["method"].str.startswith("public code")):
        cells = [cell.sort_values("mae") for _, cell in part.groupby(["n_labeled", "metric"])]
        different, of = count_differences((cell.iloc[0], cell.iloc[-1]) for cell in cells)
        told.append(f"{different} of {of} cells differ")
        verdicts.append(judge_equal(different))
    yield "kernels", join_presets(told), join_presets(verdicts), {}
    yield from check_flows()

    start = read_result("initialization").query(at)
    ours = start.pivot_table(index=["n_labeled", "metric"], columns="method", values="mae")
    said = read_paper_file("initialization").melt(["n_labeled", "method"], var_name="metric")
    said = said.pivot_table(index=["n_labeled", "metric"], columns="method", values="value")
    tables = read_theirs().query("dataset == 'Toxicity Detection' and method == 'SSME'")
    tables = tables.query("metric == 'accuracy'").sort_values("n_labeled")
    for method in ("knn", "draw"):
        off = (ours[method] / said[method] - 1.0).abs()
        shown, theirs = (f[method].xs("accuracy", level="metric") for f in (ours, said))
        verdict = judge_counts(int((off <= CLOSE).sum()), len(off))
        facts = {name: 100 * value for name, value in off.groupby("metric").max().items()}
        facts |= {"said": join(theirs, 1, 100), "tables": join(tables["mae"], 1, 100)}
        yield f"start {method}", join(shown, 1, 100), verdict, facts
    first, second = (
        start[start["method"] == method].set_index(["n_labeled", "metric"])
        for method in ("knn", "draw")
    )
    different, of = count_differences((first.loc[at], second.loc[at]) for at in first.index)
    told, theirs = (join(f.loc[(20, "accuracy"), ["knn", "draw"]], 1, 100) for f in (ours, said))
    facts = {"said": theirs, "apart": different, "cells": of}
    yield "starts", told, judge_equal(different), facts


def check_flows() -> Iterator[Found]:
    """The flow as we read the paper, and its plain reading without early stopping."""
    flow = read_result("flow_readings").dropna(subset=["paper"]).sort_values("n_labeled")
    for dataset, part in flow.groupby("dataset"):
        right = (part["verdict"] == REPRODUCES).groupby(part["method"]).sum()
        own = part[part["method"] == "flow"]
        others = right.drop("flow").rename(lambda name: name.removeprefix("flow, "))
        facts = {"others": ", ".join(f"{name} {n} of 3" for name, n in others.items())}
        facts |= {"said": join(own["paper"], 1, 100), "runs": own["runs"].min()}
        verdict = judge_counts(int(right["flow"]), 3)
        yield f"flow {dataset}", join(own["mae"], 1, 100), verdict, facts
    plain = read_result("flow_plain").dropna(subset=["paper"]).sort_values("n_labeled")
    whole, trained = (
        plain[plain["reading"] == f"weight decay 0.0, {phases}"]
        for phases in ("700 steps of EM", "as trained")
    )
    right = [int((part["verdict"] == REPRODUCES).sum()) for part in (whole, trained)]
    facts = {
        "said": join(whole["paper"], 1, 100),
        "runs": whole["runs"].min(),
        "trained": join(trained["mae"], 1, 100),
        "others": judge_counts(right[1], 3),
    }
    yield "flow plain", join(whole["mae"], 1, 100), judge_counts(right[0], 3), facts


@register
def check_subsets() -> Iterator[Found]:
    sets = read_result("classifiers").query("classifiers >= 2")
    published = read_paper_file("classifiers").query("metric == 'accuracy'")
    theirs = published.set_index("classifiers")["mae"]
    own = [
        sets[(sets["method"] == method) & (sets["metric"] == "accuracy")].set_index("classifiers")
        for method in ("ssme", "ssme, public code")
    ]
    near = [int(((each["mae"] / theirs - 1.0).abs() <= CLOSE).sum()) for each in own]
    told = " / ".join(join(each["mae"], 1, 100) for each in own)
    verdict = join_presets(judge_counts(n, len(theirs)) for n in near)
    yield "sizes", told, verdict, {"said": join(theirs, 1, 100)}
    told = " / ".join(join(each["mae"][[7, 2]], 2, 100) for each in own)
    verdict = join_presets(judge_order(each.loc[7], each.loc[2]) for each in own)
    yield "seven", told, verdict, {"said": join(theirs[[7, 2]], 2, 100)}
    several = sets[sets["subsets"] > 1].groupby(["method", "metric"])["sd_subsets"].max()
    most = [several[method][["accuracy", "ece"]] for method in ("ssme", "ssme, public code")]
    right = [int((each < [0.011, 0.015]).sum()) for each in most]
    facts = {"runs": sets["runs"].min()}
    verdict = join_presets(judge_counts(n, 2) for n in right)
    yield "spread", " / ".join(join(each, 4) for each in most), verdict, facts


@register
def check_bandwidths() -> Iterator[Found]:
    paper = read_paper_file("bandwidths").set_index(["method", "n_labeled"])["accuracy"]
    own, code = (
        read_result(name).query("metric == 'accuracy'").set_index(["method", "n_labeled"])
        for name in ("bandwidths", "presets_choices")
    )
    words: dict[str, list[str]] = {"paper": [], "public_code": []}
    kernels = read_result("own_kernel").query("set == 'civilcomments' and across == 'smallest'")
    widths = kernels.set_index("bandwidth")["smallest_bandwidth"]
    facts = {"ours": widths["silverman"], "theirs": widths["public silverman"]}
    steps = read_result("bandwidth_steps").query("metric == 'accuracy'").set_index("method")
    for rule in ("isj", "silverman", "fixed 1.0", "fixed 2.0"):
        title = "public code" + (f", {rule}" if rule != "isj" else "")
        errors = [own.loc[rule, "mae"], code.loc[title, "mae"]]
        right = [int(((each / paper[rule] - 1.0).abs() <= CLOSE).sum()) for each in errors]
        told = " / ".join(join(each, 1, 100) for each in errors)
        verdict = join_presets(judge_counts(n, 3) for n in right)
        facts["said"] = join(paper[rule], 1, 100)
        if rule != "isj":
            width = {"silverman": "1.15"}.get(rule, rule.removeprefix("fixed "))
            more = [steps.loc[f"public_code, {width}, {n} steps"] for n in (40, 60)]
            facts["more"] = " to ".join(join(each["mae"], 1, 100) for each in more)
            facts["half"] = 100 * pd.concat(more)["ci95"].max()
        yield f"bandwidth {rule}", told, verdict, dict(facts)
        for preset, frame, best, name in (
            ("paper", own, "isj", rule),
            ("public_code", code, "public code", title),
        ):
            if rule != "isj":
                pairs = [(frame.loc[best, n], frame.loc[name, n]) for n in (20, 50, 100)]
                words[preset] += [judge_order(*pair) for pair in pairs]
    counts = [each.count(CONFIRMED) for each in words.values()]
    verdict = join_presets(judge_orders(each) for each in words.values())
    yield "bandwidths", " / ".join(f"{n} of 9" for n in counts), verdict, {}


TRENDS = {"paper": "ssme", "public_code": "ssme, public code", "gmm": "ssme, gmm"}
"""Our methods on the synthetic sets, by preset; Gaussians in place of kernels."""


def tabulate_trends() -> pd.DataFrame:
    """Error of accuracy at both ends of each axis of figure S2, and whether it falls."""
    every = pd.concat([read_result("synthetic_trends"), read_result("presets_trends")])
    every, rows = every[every["metric"] == "accuracy"], []
    for preset, method in TRENDS.items():
        part = every[every["method"] == method].sort_values("value")
        for world, at in part.groupby(["axis", "reading", "noise"]):
            ends = 100 * at["mae"].iloc[[0, -1]]
            told = "{:.1f} to {:.1f}".format(*ends)
            rows.append((*world, preset, told, judge_order(at.iloc[-1], at.iloc[0])))
    return pd.DataFrame(rows, columns=["axis", "reading", "noise", "preset", "errors", "verdict"])


@register
def check_figures() -> Iterator[Found]:
    worst = read_result("bounds").groupby("metric")["bound"].max()
    yield "bounds", "largest bound " + join(worst), STAND_IN, {}
    trends = tabulate_trends().query("reading == 'as drawn' and noise == 'normal'")
    for axis, at in trends.groupby("axis"):
        rows = at.set_index("preset")
        own, gmm = rows.loc[["paper", "public_code"]], rows.loc["gmm"]
        facts = {"gmm": f"{gmm['errors']}, {gmm['verdict']}"}
        told = " / ".join(own["errors"])
        yield f"trend {axis}", told, join_presets(own["verdict"]), facts
    adult = read_result("ensembling")
    facts = {"sets": 5 * adult["runs"].max()}
    for metric in METRICS:
        words = list_bends(adult, metric)
        told = " / ".join(
            f"better at {each.count(CONFIRMED)}, worse at {each.count(REFUTED)}" for each in words
        )
        similar = metric == "average_precision"
        verdicts = [
            judge_equal(len(each) - each.count(NOISE)) if similar else judge_orders(each)
            for each in words
        ]
        yield f"bends {metric}", told, join_presets(verdicts), facts


def list_bends(frame: pd.DataFrame, metric: str) -> list[list[str]]:
    """By preset, whether SSME errs less than the ensemble without labels, bend by bend."""
    at = frame[frame["metric"] == metric].set_index(["method", "bend"])
    rival = at.loc["ensemble, no labels"]
    return [
        [judge_order(at.loc[method, bend], rival.loc[bend]) for bend in rival.index]
        for method in ("ssme", "ssme, public code")
    ]


@register
def check_theory() -> Iterator[Found]:
    frame = read_result("theory").query("applies")
    bound = frame[frame["method"] == "ul_plus"]
    held = (bound["within"] >= 0.9).groupby(bound["world"]).agg(["sum", "size"])
    right, of = held.loc["as assumed"]
    broken = held.drop("as assumed")
    facts = {"broken": ", ".join(f"{world} {n} of {m}" for world, (n, m) in broken.iterrows())}
    yield "theorem", f"{right} of {of}", judge_counts(right, of), facts
    as_assumed = frame[frame["world"] == "as assumed"].rename(columns={"mean_auc_error": "mae"})
    settings = as_assumed.set_index(["method", "axis", "value"])[["mae", "ci95"]]
    words = {
        method: [
            judge_order(row, settings.loc[("ul_plus", *place)])
            for place, row in settings.loc[method].iterrows()
        ]
        for method in ("ssme, gmm", "ssme, gmm, diagonal", "ul_plus, labels in EM")
    }
    own, diagonal, in_em = (
        f"larger in {each.count(REFUTED)} of {len(each)}, smaller in {each.count(CONFIRMED)}"
        for each in words.values()
    )
    verdict = judge_orders(words["ssme, gmm"])
    yield "ul+", f"error of AUC: {own} settings", verdict, {"diagonal": diagonal, "in_em": in_em}
    seconds = read_result("cost").set_index("method")["seconds"]
    cost = seconds / seconds["bayesian_calibration"]
    like = cost["ssme, public code, no refits"]
    facts = {"paper": cost["ssme, no refits"], "refits": cost["ssme"]}
    yield "cost", f"{like:.2f}", CONFIRMED if like < 1.0 else REFUTED, facts
    rivals = read_result("rivals_paper")
    names = ("pseudo_label", "pseudo_label, nearest neighbors")
    pair = [rivals[rivals["method"] == name].set_index(CELL) for name in names]
    different, of = count_differences(
        (pair[0].loc[cell], pair[1].loc[cell]) for cell in pair[1].index
    )
    yield "pseudo-labels", f"{different} of {of} cells differ", judge_equal(different), {}
    golden = read_result("golden_spread")
    theirs, own = golden["reference_to_ours"].mean(), golden["ours_to_ours"].mean()
    yield "loop", f"{theirs:.4f}", judge(theirs, own), {"own": own}


@register
def check_dependencies() -> Iterator[Found]:
    found = read_result("dependencies")
    shown = found[(found["steps"] == found["steps"].min())]
    shown = shown[shown["penalty"] == shown["penalty"].min()]
    told = " and ".join(f"{row.dependent:.1f} of {row.pairs}" for row in shown.itertuples())
    every = [
        bool((part["fewest"] == part["pairs"]).all())
        for _, part in found.groupby(["steps", "penalty"])
    ]
    facts = {"runs": found["runs"].min()}
    yield "weak", f"{told} pairs", judge_counts(sum(every), len(every)), facts


def list_claims() -> list[Claim]:
    """Every line of claims.csv with what our runs give, in its order."""
    found = {
        key: (ours, verdict, facts) for check in CHECKS for key, ours, verdict, facts in check()
    }
    claims = []
    for line in read_paper_file("claims").fillna("").to_dict("records"):
        ours, verdict, facts = found.pop(line["key"], ("", line["verdict"], {}))
        texts = {name: line[name].format(**facts) for name in ("claim", "paper", "cause")}
        place = {name: line[name] for name in ("key", "part", "experiment")}
        claims.append(Claim(ours=ours, verdict=verdict, **texts, **place))
    if found:
        raise ValueError(f"claims.csv lacks {', '.join(found)}")
    return claims


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--renew", action="store_true", help="from the paper's whole table")
    if parser.parse_args().renew:
        renew()
    commands = read_provenance(RESULTS).set_index("experiment")["command"]
    table = pd.DataFrame([vars(claim) for claim in list_claims()]).drop(columns="part")
    table["command"] = [
        " && ".join(dict.fromkeys(commands[name] for name in names.split()))
        for names in table["experiment"]
    ]
    table.index += 1
    print(table.to_string(max_colwidth=60))


if __name__ == "__main__":
    main()

"""Every verdict on the paper is computed from the result files by its own rule."""

import re

import numpy as np
import pandas as pd
import pytest
from benchmarks import claims, report
from benchmarks.paper import REPRODUCES, judge_rows, read_paper_file
from tests.shared_data import data_folder


@pytest.fixture
def results(monkeypatch):
    """The result files, read anew."""
    for cached in (claims.read_result, claims.read_ours):
        cached.cache_clear()
        monkeypatch.setattr(claims, cached.__name__, cached.__wrapped__)
    return lambda name: pd.read_csv(claims.RESULTS / f"{name}.csv")


def row(error: float, half: float) -> dict[str, float]:
    return {"mae": error, "ci95": half}


@pytest.mark.parametrize(
    ("small", "verdict"),
    [(1.0, claims.CONFIRMED), (1.9, claims.NOISE), (3.0, claims.REFUTED)],
)
def test_an_order_is_told_apart_from_noise(small, verdict):
    assert claims.judge_order(row(small, 0.1), row(2.0, 0.3)) == verdict


C, R, N = claims.CONFIRMED, claims.REFUTED, claims.NOISE


@pytest.mark.parametrize(
    ("words", "verdict"),
    [([C, C], C), ([C, N], claims.PARTLY), ([C, R], claims.PARTLY), ([C, R, R], R), ([N, N], N)],
)
def test_several_orders_have_one_verdict(words, verdict):
    assert claims.judge_orders(words) == verdict


@pytest.mark.parametrize(("far", "verdict"), [(1.3, claims.CONFIRMED), (1.6, claims.REFUTED)])
def test_one_pair_that_differs_refutes_that_there_is_no_difference(far, verdict):
    pairs = [(row(1.0, 0.2), row(1.1, 0.2)), (row(far, 0.2), row(1.0, 0.2))]
    different, of = claims.count_differences(pairs)
    assert of == 2
    assert claims.judge_equal(different) == verdict


def test_an_order_without_a_spread_has_no_verdict():
    assert claims.judge_order(row(1.0, float("nan")), row(2.0, 0.3)) == "unknown"


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(1.14, REPRODUCES), (1.16, "does not reproduce: higher here"), (0.5, "lower here")],
)
def test_a_figure_is_judged_by_fifteen_percent(ours, verdict):
    assert claims.judge(ours, 1.0).endswith(verdict)


def test_the_report_has_every_claim_with_the_verdict_that_the_results_give(results):
    text = (report.ROOT / "REPORT.md").read_text(encoding="utf-8")
    found = claims.list_claims()
    assert len(found) == 79
    for number, claim in enumerate(found, start=1):
        shown = f"| {number} | {claim.claim} | {claim.paper} | {claim.ours} | {claim.verdict} |"
        assert shown in text
    assert text == report.write_text()
    assert len(text.split()) <= report.MOST_WORDS


def test_a_verdict_follows_its_result(results, monkeypatch):
    def read_changed(name: str) -> pd.DataFrame:
        frame = results(name)
        if name == "main_tables":
            chosen = (frame["method"] == "ssme") & (frame["dataset"] == "multinli")
            frame.loc[chosen, "mae"] *= 2.0
        return frame

    before = {claim.key: claim.verdict for claim in claims.list_claims()}
    monkeypatch.setattr(claims, "read_result", read_changed)
    after = {claim.key: claim.verdict for claim in claims.list_claims()}
    assert before["language SSME"] == REPRODUCES
    assert after["language SSME"] == "does not reproduce: lower here"


def put_public_code(
    frame: pd.DataFrame, public: pd.DataFrame, names: dict[str, str]
) -> pd.DataFrame:
    """``frame`` with the errors that methods have under the preset ``public_code``."""
    key, frame = ["dataset", "metric", "n_labeled"], frame.copy()
    public = public.set_index("method")
    for name, title in names.items():
        chosen = frame["method"] == name
        other = public.loc[title].set_index(key)
        at = pd.MultiIndex.from_frame(frame.loc[chosen, key])
        for column in ("mae", "ci95"):
            frame.loc[chosen, column] = other.loc[at, column].to_numpy()
    if "paper_ci95" in frame:
        frame["verdict"] = judge_rows(frame)
    return frame


def test_a_line_with_one_figure_has_the_same_verdict_under_both_presets(results, monkeypatch):
    def read_changed(name: str) -> pd.DataFrame:
        frame = results(name)
        if name == "main_tables":
            return put_public_code(frame, results("ssme_paper"), {"ssme": "ssme, public code"})
        if name == "initialization":
            names = {"draw": "public code", "knn": "public code, knn"}
            frame, public = (
                f.assign(dataset="civilcomments") for f in (frame, results("presets_choices"))
            )
            return put_public_code(frame, public, names)
        return frame

    before = {claim.key: claim.verdict for claim in claims.list_claims()}
    monkeypatch.setattr(claims, "read_result", read_changed)
    after = {claim.key: claim.verdict for claim in claims.list_claims()}
    assert after == before


KEYS = [
    "n_labeled",
    "n_unlabeled",
    "value",
    "bend",
    "penalty",
    "classifiers",
    "subsets",
    "runs",
    "seed",
]


def alter(frame: pd.DataFrame) -> pd.DataFrame:
    """Other numbers: cells that reproduce do not and the other way round, all else at random."""
    rng, out = np.random.default_rng(0), frame.copy()
    for column in out.select_dtypes("number").columns.difference([*KEYS, "paper", "paper_ci95"]):
        out[column] = out[column] * np.exp(rng.normal(size=len(out)))
    if "paper_ci95" in out:
        known = out["paper"].notna()
        other = out["paper"].where(frame["verdict"] != REPRODUCES, 3.0 * frame["mae"])
        out["mae"], out["ci95"] = out["mae"].mask(known, other), frame["ci95"]
        out["verdict"] = judge_rows(out)
    return out


def widen(frame: pd.DataFrame) -> pd.DataFrame:
    """The same errors, known less well."""
    return frame.assign(ci95=100.0 * frame["ci95"]) if "ci95" in frame else frame


def test_the_lines_name_every_result_that_decides_them(results, monkeypatch):
    """Other numbers in a result file change a line that names it."""
    files: dict[str, pd.DataFrame] = {}
    seen: set[str] = set()

    def read(name: str) -> pd.DataFrame:
        seen.add(name)
        return files[name] if name in files else files.setdefault(name, results(name))

    monkeypatch.setattr(claims, "read_result", read)
    named = read_paper_file("claims").fillna("").set_index("key")["experiment"].str.split()
    decided: dict[str, bool] = {}
    for check in claims.CHECKS:
        seen.clear()
        before = {key: tuple(map(str, found)) for key, *found in check()}
        assert {name for key in before for name in named[key]} == seen, check.__name__
        for name in tuple(seen):
            kept = files[name]
            for other in (alter, widen):
                files[name] = other(kept)
                after = {key: tuple(map(str, found)) for key, *found in check()}
                changed = any(after[key] != before[key] for key in before if name in named[key])
                decided[name] = decided.get(name, False) or changed
            files[name] = kept
    assert [name for name, changed in decided.items() if not changed] == []


def test_the_headline_of_language_models_is_of_the_runs_of_the_main_tables(results, monkeypatch):
    def read_changed(name: str) -> pd.DataFrame:
        frame = results(name)
        return frame[frame["dataset"] != "multinli"] if name == "llm" else frame

    before = {claim.key: claim for claim in claims.list_claims()}["language SSME"]
    monkeypatch.setattr(claims, "read_result", read_changed)
    after = {claim.key: claim for claim in claims.list_claims()}["language SSME"]
    assert set(results("main_tables")["runs"]) == {50}
    assert after == before


def test_every_line_of_the_table_is_computed_or_says_why_not(results):
    lines = read_paper_file("claims").fillna("")
    computed = {key for check in claims.CHECKS for key, *_ in check()}
    rest = lines[~lines["key"].isin(computed)]
    assert set(rest["verdict"]) == {claims.ABSENT}
    assert rest["cause"].all()
    assert computed <= set(lines["key"])


@pytest.mark.data
def test_figures_of_the_text_are_in_the_paper():
    path = data_folder().parent / "paper" / "ssme-paper.tex"
    if not path.exists():
        return  # the paper is kept with the sets, not in the repository
    text = path.read_text(encoding="utf-8")
    lines = read_paper_file("claims").fillna("")
    typed = (
        lines["paper"]
        .str.replace("0.67 ", "", regex=False)
        .str.replace(r"its tables .*|\{.*?\}", "", regex=True)
    )
    figures = {figure for paper in typed for figure in re.findall(r"\d+\.\d+", paper)}
    assert len(figures) > 20
    assert not [figure for figure in sorted(figures) if figure not in text]


@pytest.mark.data
def test_figures_over_all_of_the_papers_sets_are_those_of_its_tables(tmp_path, monkeypatch):
    if not (data_folder().parent / "paper" / "mae.csv").exists():
        return  # the paper's tables are kept with the sets, not in the repository
    kept = (claims.ROOT / "paper_tables" / "all_sets.csv").read_text()
    (tmp_path / "paper_tables").mkdir()
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    claims.renew()
    assert (tmp_path / "paper_tables" / "all_sets.csv").read_text() == kept

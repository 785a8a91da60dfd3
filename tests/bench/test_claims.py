"""Every verdict on the paper is computed from the result files by its own rule."""

import pandas as pd
import pytest
from benchmarks import claims, report
from benchmarks.paper import REPRODUCES, read_paper_file
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
    assert len(text.split()) <= 6000


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


def test_figures_of_the_language_models_are_over_all_runs(results):
    assert set(results("main_tables")["runs"]) == {50}
    (claim,) = (each for each in claims.list_claims() if each.key == "language SSME")
    assert claim.experiment == "main_tables"


def test_every_line_of_the_table_is_computed_or_says_why_not(results):
    lines = read_paper_file("claims").fillna("")
    computed = {key for check in claims.CHECKS for key, *_ in check()}
    rest = lines[~lines["key"].isin(computed)]
    assert set(rest["verdict"]) == {claims.ABSENT, "not run"}
    assert rest["cause"].all()
    assert computed <= set(lines["key"])


@pytest.mark.data
def test_figures_over_all_of_the_papers_sets_are_those_of_its_tables(tmp_path, monkeypatch):
    if not (data_folder().parent / "paper" / "mae.csv").exists():
        return  # the paper's tables are kept with the sets, not in the repository
    kept = (claims.ROOT / "paper_tables" / "all_sets.csv").read_text()
    (tmp_path / "paper_tables").mkdir()
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    claims.renew()
    assert (tmp_path / "paper_tables" / "all_sets.csv").read_text() == kept

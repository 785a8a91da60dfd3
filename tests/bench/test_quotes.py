"""Documents quote figures that the committed results hold."""

import re
import shutil

import pytest
from benchmarks import quotes, report
from benchmarks.provenance import find_problems as provenance_problems


def test_the_documents_hold():
    assert quotes.find_problems() == []


UNMARKED = {
    "The error is 2.53 points.": "2.53",
    "It covers 93 % of the sets, of 95 % intervals.": "93 %",
    "SSME is better in 10 of 12 cells.": "10 of 12",
    "A fit takes 40 seconds.": "40 seconds",
}


def test_what_is_changed_by_hand_is_found(tmp_path):
    """In a copy of the documents: figures of sentences and tables, marks, sentences without any."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "benchmarks" / "evidence").mkdir(parents=True)
    pages = [*quotes.TOP.glob("docs/*.md"), *quotes.TOP.glob("benchmarks/evidence/*.md")]
    for path in [quotes.TOP / "README.md", quotes.TOP / "CHANGELOG.md", *pages]:
        shutil.copy(path, tmp_path / path.relative_to(quotes.TOP))
    tables = [name for name, found in quotes.DOCUMENTS.items() if found]
    for name in tables:
        path = tmp_path / name
        text = path.read_text()
        start = text.index("\n| ", text.index("<!-- results"))
        place = next(i for i in range(text.index("| ---", start), len(text)) if text[i].isdigit())
        changed = str((int(text[place]) + 1) % 10)
        path.write_text(text[:place] + changed + text[place + 1 :])
    unmarked = ["benchmarks/evidence/rivals.md", "docs/ssme-as-published.md"]
    for name in unmarked:
        path = tmp_path / name
        decimal = r"(\d\.\d+)\s?<!-- quote [^>]*? -->"
        path.write_text(re.sub(decimal, r"\1", path.read_text(), count=1))
    path = tmp_path / "docs" / "auto.md"
    text, count = re.subn(
        r"0\.\d\d(?=<!-- quote auto_stress rmae)", "0.01", path.read_text(), count=1
    )
    assert count == 1
    path.write_text("\n".join([text, *UNMARKED, ""]))
    problems = quotes.find_problems(tmp_path)
    for name in tables:
        assert any(problem.startswith(f"{name}: a table differs") for problem in problems), name
    for name in unmarked:
        assert any(problem.startswith(name) and "no mark" in problem for problem in problems), name
    assert any(problem.startswith("docs/auto.md: 0.01 is quoted") for problem in problems)
    in_auto = [each for each in problems if each.startswith("docs/auto.md, line ")]
    assert [each.split(": ")[-1] for each in in_auto] == [
        f"{figure} has no mark" for figure in UNMARKED.values()
    ]


def test_figures_are_written_anew_to_the_same_digits():
    mark = "<!-- quote all_sets_overall rmae method=auto n_labeled=20 -->"
    text = quotes.requote(f"about 9.99{mark} of it")
    assert quotes.check_quotes(text) == []
    assert len(text) == len(f"about 9.99{mark} of it")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0.1<!-- quote all_sets_overall rmae -->", "rows of all_sets_overall.csv"),
        ("0.1<!-- quote nowhere rmae -->", "nowhere.csv"),
        ("about <!-- quote all_sets_overall rmae -->", "does not follow a figure"),
    ],
)
def test_a_mark_that_names_no_figure_is_found(text, told):
    (problem,) = quotes.check_quotes(text)
    assert told in problem


@pytest.mark.parametrize(
    "figure", ["0.53", "12 %", "9 of 12", "5 of 9", "23 of the 24", "3.5 times", "80 seconds"]
)
def test_a_measurement_without_a_mark_is_found(figure):
    (found,) = quotes.find_unmarked(f"We measured {figure} here.")
    assert found[1] in figure


@pytest.mark.parametrize(
    "sentence",
    [
        "`0.53` in code, [a link](a0.53.md), version 0.2.3, 95 % intervals",
        "a default of 0.5<!-- constant --> and 20 %<!-- constant -->",
        "<!-- constants -->\n| a | 0.93 |\n<!-- /constants -->",
    ],
)
def test_what_is_no_measurement_needs_no_mark(sentence):
    assert quotes.find_unmarked(sentence) == []


def test_a_figure_changed_by_hand_in_the_report_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "ROOT", tmp_path)
    monkeypatch.setattr(report, "write_text", lambda: "error 2.29")
    (tmp_path / "REPORT.md").write_text("error 2.19")
    with pytest.raises(SystemExit, match=r"REPORT\.md"):
        report.main(check=True)


def test_a_result_without_a_line_is_found(tmp_path):
    (tmp_path / "new.csv").write_text("a\n1\n")
    assert provenance_problems(tmp_path) == ["new.csv has no line in runs.csv"]


def test_ratios_and_complements_are_understood():
    cell = "dataset=civilcomments metric=accuracy n_labeled=20"
    ratio = quotes.find_quoted(f"main_tables mae method=auto/ssme {cell}")
    mine, theirs = (
        quotes.find_quoted(f"main_tables mae method={m} {cell}") for m in ("auto", "ssme")
    )
    assert ratio == pytest.approx(mine / theirs)
    covered = "auto_further_coverage covered variant=auto dataset=all metric=all n_labeled=20"
    assert quotes.find_quoted(f"percent not {covered}") == pytest.approx(
        100 - quotes.find_quoted(f"percent {covered}")
    )

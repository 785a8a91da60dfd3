"""Documents quote figures that the committed results hold."""

import functools
import random
import re
import shutil

import pytest
from benchmarks import quotes, report
from benchmarks.provenance import find_problems as provenance_problems


def test_the_documents_hold():
    assert quotes.find_problems() == []


UNMARKED = {
    "The error is 2.53 points.": "2.53",
    "It covers 93% of the sets, of 95% intervals.": "93%",
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
    tables = list(quotes.TABLES)
    for name in tables:
        path = tmp_path / name
        text = path.read_text()
        start = text.index("\n| ", text.index("<!-- results"))
        place = next(i for i in range(text.index("|---", start), len(text)) if text[i].isdigit())
        changed = str((int(text[place]) + 1) % 10)
        path.write_text(text[:place] + changed + text[place + 1 :])
    unmarked = ["benchmarks/evidence/rivals.md", "docs/ssme-as-published.md"]
    for name in unmarked:
        path = tmp_path / name
        decimal = r"(\d\.\d+)\s?<!-- quote [^>]*? -->"
        path.write_text(re.sub(decimal, r"\1", path.read_text(), count=1))
    path = tmp_path / "docs" / "auto.md"
    text, count = re.subn(
        r"0\.\d\d(?=<!-- quote corpus_test error)", "0.01", path.read_text(), count=1
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


EVIDENCE = "benchmarks/evidence"
OTHER_TESTS = {"docs/metrics.md": {"metrics"}, "docs/rivals.md": {"methods"}}
"""Blocks that the tests of metrics and methods compare with the registries."""
KINDS = {
    "integer": r"(?<![\w.,])\d+(?![\w.,%]| ?%)",
    "decimal": r"\d+\.\d+",
    "percent": r"\d+ ?%",
    "constant": r"[\d.,]+(?: %)?(?=<!-- constant -->)",
}
DOCUMENTS = {
    "README": ["README.md"],
    "docs": sorted(f"docs/{path.name}" for path in quotes.TOP.glob("docs/*.md")),
    "evidence": sorted(f"{EVIDENCE}/{path.name}" for path in quotes.TOP.glob(f"{EVIDENCE}/*.md")),
    "report": ["benchmarks/REPORT.md"],
}
LISTED = quotes.read_constants()
TRIALS = 8


def list_blocks(name, text):
    return {found[1] for found in quotes.WRITTEN.finditer(text)} - OTHER_TESTS.get(name, set())


def test_every_written_block_has_a_program_that_writes_it():
    for path in quotes.list_pages(quotes.TOP):
        name = str(path.relative_to(quotes.TOP))
        assert list_blocks(name, path.read_text()) == set(quotes.PARTS.get(name, {})), name


@functools.cache
def write_report():
    return report.write_text()


def is_noticed(name, text):
    if name == "benchmarks/REPORT.md":
        return write_report() != text
    return quotes.find_problems_of_page(name, text, LISTED.get(name, quotes.Counter()))


def list_numbers(name, text, kind):
    """Where the numbers of a kind are that a reader sees and that this folder's tests check."""
    hidden = [*re.finditer(r"<!-- (?!constant -).*?-->", text, re.DOTALL)]
    hidden += [
        found for found in quotes.WRITTEN.finditer(text) if found[1] in OTHER_TESTS.get(name, ())
    ]
    seen = [*text]
    for found in hidden:
        seen[found.start() : found.end()] = " " * len(found[0])
    return [found.span() for found in re.finditer(KINDS[kind], "".join(seen))]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_altered_figures_are_noticed(document):
    """Of every kind of figure, one digit at a time, at random."""
    pages = {name: (quotes.TOP / name).read_text(encoding="utf-8") for name in DOCUMENTS[document]}
    assert not [name for name, text in pages.items() if is_noticed(name, text)]
    draw, tried = random.Random(7), 0
    for kind in KINDS:
        spans = {name: list_numbers(name, text, kind) for name, text in pages.items()}
        for _ in range(TRIALS if any(spans.values()) else 0):
            name = draw.choice([name for name in pages if spans[name]])
            start, end = draw.choice(spans[name])
            text = pages[name]
            place = draw.choice([i for i in range(start, end) if text[i].isdigit()])
            digit = str((int(text[place]) + draw.randint(1, 9)) % 10)
            altered = text[:place] + digit + text[place + 1 :]
            assert is_noticed(name, altered), (name, text[start - 40 : end + 40], digit)
            tried += 1
    assert tried >= (len(KINDS) - 1) * TRIALS


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with 25 runs of it", "with 26 runs of it"),
        ("eleven sets", "twelve sets"),
        ("20 rows, 30 labels", "30 rows, 20 labels"),
        ("`--labels 20`", "`--labels 30`"),
        ("below -0.3<!-- constant -->", "below 0.3<!-- constant -->"),
        ("τ² of it", "τ³ of it"),
    ],
)
def test_a_number_that_is_not_listed_is_noticed(before, after):
    listed = quotes.list_constants(before)
    assert quotes.compare_constants(before, listed) == []
    assert quotes.compare_constants(after, listed)


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
        "`0.53` in code, [a link](a0.53.md), version 0.2.3, 95% intervals",
        "a default of 0.5<!-- constant --> and 20%<!-- constant -->",
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

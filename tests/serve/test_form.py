"""The form of a file: settings that fail replace none that work, and labels stay in sight."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import House, Loop
from tests.serve.test_labeling import row_of

pytestmark = pytest.mark.web

PAGES = ("", "/label", "/result", "/people", "/history")
LABELS = 7


@pytest.fixture
def labeled(ready: House) -> House:
    """A file with an evaluation and labels that were given by hand."""
    for number in range(LABELS):
        row = row_of(ready.client.get("/files/1/label").text)
        ready.mark("/files/1/label", row=row, label=str(number % 2))
    ready.work()
    return ready


def read_text(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def count_lines(house: House) -> int:
    return len(house.client.get("/files/1/labels.csv").text.splitlines())


def find_mapping(house: House) -> Any:
    record = house.db.run_now(lambda store: store.find_file(1))
    return record.read, record.run, record.shown


BAD = [
    ({"level": "0"}, "level"),
    ({"level": "100"}, "level"),
    ({"level": "0.95"}, "level"),
    ({"level": "high"}, "level"),
    ({"level": "9_5"}, "level"),
    ({"level": "nan"}, "level"),
    ({"pattern": "{model}"}, "pattern"),
    ({"pattern": "{model}/{class}"}, "pattern"),
    ({"delimiter": ";;"}, "delimiter"),
    ({"delimiter": ";"}, "delimiter"),
    ({"classes": "ham, spam"}, "classes"),
    ({"positive": "spam"}, "positive"),
    ({"part-1": "label"}, ""),
    ({"part-1": "weight"}, ""),
    ({"method": "none"}, ""),
    ({"metric": "none"}, ""),
    ({"layout": "long"}, ""),
]
"""What was typed, and the field that has to say so."""


def test_settings_that_fail_replace_none_that_work(labeled: House) -> None:
    """Each of these locked the file: no form, nobody who labeled, and none of the labels saved."""
    before, lines = find_mapping(labeled), count_lines(labeled)
    assert lines == LABELS + 1
    for fields, wrong in BAD:
        usual = {"part-1": "shown", "columns_from": "1"}
        answer = labeled.post("/files/1/mapping", **{**usual, **fields})
        labeled.work()
        page = answer if answer.status_code == 400 else labeled.client.get("/files/1")
        assert 'class="trouble"' in page.text, fields
        assert "<button>Use this</button>" in page.text, fields
        if wrong:
            value = re.escape(html.escape(fields[wrong]))
            assert re.search(
                rf'<label class="wrong">[^<]*<input name="{wrong}" value="{value}"[^>]*'
                rf'aria-describedby="wrong-{wrong}"><span class="complaint" id="wrong-{wrong}">\S+',
                page.text,
            ), fields
        assert find_mapping(labeled) == before, fields
        assert count_lines(labeled) == lines, fields
        people = read_text(labeled.client.get("/files/1/people").text)
        assert re.search(rf"Ada {LABELS} 0 ", people), fields
        assert {labeled.client.get(f"/files/1{path}").status_code for path in PAGES} == {200}
    card = labeled.client.get("/files/1/label").text
    assert labeled.mark("/files/1/label", row=row_of(card), label="1")["mine"] == LABELS + 1
    assert labeled.post("/files/1/evaluate").status_code == 303
    assert "evaluate done" in labeled.work()
    labeled.post("/files/1/mapping", **usual, level="90")
    labeled.work()
    assert 'class="trouble"' not in labeled.client.get("/files/1").text
    assert find_mapping(labeled)[1] == {"level": 0.9}


def test_a_file_that_an_older_version_locked_can_be_corrected(labeled: House) -> None:
    def lock(store: Any) -> None:
        with store._write() as connection:
            connection.execute("""UPDATE file SET run = '{"level": "97,5"}'""")
            connection.execute(
                """UPDATE job SET request = json_set(request, '$.run.level', '97,5')"""
            )

    labeled.db.run_now(lock)
    page = labeled.client.get("/files/1").text
    assert 'name="level" value="97,5"' in page
    labeled.post("/files/1/mapping", level="97")
    labeled.work()
    assert find_mapping(labeled)[1] == {"level": 0.97}


def test_a_file_that_another_version_looked_at_is_looked_at_again(labeled: House) -> None:
    before = find_mapping(labeled)
    labeled.db.run_now(lambda store: store._execute("UPDATE job SET key = 'look-of-old'"))
    with Loop() as loop:
        loop.run(labeled.app.app.state.project.look_again())
        assert labeled.work() == ["look done"]
        loop.run(labeled.app.app.state.project.look_again())
    assert labeled.work() == []
    assert find_mapping(labeled) == before
    assert "Models 2 good" in read_text(labeled.client.get("/files/1").text)


def test_a_job_that_cannot_end_leaves_the_form(open_house: House, scores: Path) -> None:
    open_house.upload(scores)
    (job,) = open_house.db.run_now(lambda store: store.list_jobs())
    waiting = open_house.client.get("/files/1").text
    assert f'data-job="{job.id}"' in waiting
    open_house.post(f"/jobs/{job.id}/cancel")
    page = open_house.client.get("/files/1").text
    assert all(f'name="{name}"' in page for name in ("delimiter", "decimal", "classes", "level"))
    assert "Read it again" in page
    open_house.post("/files/1/again")
    assert open_house.work() == ["look done"]
    assert 'class="trouble"' not in open_house.client.get("/files/1").text


def test_what_another_version_wrote_is_made_anew_and_no_label_is_lost(labeled: House) -> None:
    """Its files lack what pages show today, for which they answered with status 500."""
    labeled.post("/files/1/evaluate")
    assert labeled.work() == ["evaluate done"]
    for folder in labeled.settings.results.iterdir():
        old = folder.rename(folder.with_name(f"{folder.name}-old"))
        for path in old.glob("*.json"):
            found = json.loads(path.read_text())
            keep = ("columns", "error", "classes", "has_ids", "models")
            path.write_text(json.dumps({name: found[name] for name in keep if name in found}))
    labeled.db.run_now(lambda store: store._execute("UPDATE job SET key = key || '-old'"))
    pages = [
        f"/files/1{page}" for page in ("", "/label", "/mine", "/result", "/people", "/history")
    ]
    assert {labeled.client.get(page).status_code for page in pages} == {200}
    with Loop() as loop:
        loop.run(labeled.app.app.state.project.look_again())
    assert labeled.work() == ["look done"]
    text = read_text(labeled.client.get("/files/1/result").text)
    assert "Another version of ssme made the last result" in text
    labeled.post("/files/1/evaluate")
    assert labeled.work() == ["evaluate done"]
    assert {labeled.client.get(page).status_code for page in pages} == {200}
    assert count_lines(labeled) == LABELS + 1


def test_a_changed_file_that_no_longer_fits_keeps_its_labels_in_sight(labeled: House) -> None:
    (path,) = labeled.settings.uploads.rglob("*.csv")
    content = path.read_text()
    path.write_text(content.replace("id,text,y,", "id,text,truth_of_it,"))
    labeled.post("/files/1/again")
    labeled.work()
    page = labeled.client.get("/files/1").text
    assert f"{LABELS} labels given by hand are kept" in read_text(page)
    assert "<button>Use this</button>" in page
    assert count_lines(labeled) == LABELS + 1
    assert labeled.post("/files/1/evaluate").status_code == 400
    path.write_text(content)
    labeled.post("/files/1/again")
    labeled.work()
    assert labeled.post("/files/1/evaluate").status_code == 303


def test_a_mapping_sent_from_an_older_page_is_about_the_columns_of_that_page(
    open_house: House, scores: Path, tmp_path: Path
) -> None:
    """A file read with another delimiter meanwhile has other columns."""
    open_house.upload(scores)
    open_house.work()
    page = open_house.client.get("/files/1").text
    source = re.search(r'name="columns_from" value="(\d+)"', page)
    assert source is not None
    open_house.post("/files/1/mapping", delimiter="|")
    open_house.work()
    fields = {"columns_from": source[1], "part-1": "out", "part-5": "out"}
    open_house.post("/files/1/mapping", **fields)
    open_house.work()
    read, _, shown = find_mapping(open_house)
    assert (read["label"], read["id"], read["ignore"]) == ("y", "id", ["group_site"])
    assert shown == []


GERMAN = "Nr;Größe;y;gut;schlecht\n" + "".join(
    f"z{i};groß {i};{i % 2 if i < 12 else ''};0,{(i * 37) % 1000:03};0,{(i * 71) % 1000:03}\n"
    for i in range(40)
)


@pytest.mark.parametrize(
    ("content", "proposed"),
    [
        (GERMAN.encode("cp1252"), {"encoding": "cp1252", "delimiter": ";", "decimal": ","}),
        (GERMAN.encode("utf-16"), {"encoding": "utf-16", "delimiter": ";", "decimal": ","}),
        (GERMAN.encode(), {"delimiter": ";", "decimal": ","}),
        (GERMAN.replace(",", ".").encode(), {"delimiter": ";"}),
        (GERMAN.replace(",", ".").replace(";", "\t").encode(), {"delimiter": "\t"}),
    ],
)
def test_a_file_written_in_another_way_is_one_click_away(
    open_house: House, tmp_path: Path, content: bytes, proposed: dict[str, str]
) -> None:
    """Each was a dead end: an error without a form."""
    path = tmp_path / "bewertung.csv"
    path.write_bytes(content)
    open_house.upload(path)
    open_house.work()
    page = open_house.client.get("/files/1").text
    assert find_mapping(open_house)[0] == {}, "nothing is taken before a person has agreed"
    for name, value in proposed.items():
        assert f'<input name="{name}" value="{value}"' in page
    assert "Größe" in read_text(page)
    open_house.post("/files/1/mapping", **proposed)
    open_house.work()
    page = read_text(open_house.client.get("/files/1").text)
    assert "Models 2 gut , schlecht" in page
    assert {**find_mapping(open_house)[0]}.items() >= proposed.items()
    open_house.post("/files/1/evaluate")
    assert "evaluate done" in open_house.work()


def test_the_sheet_of_an_excel_file_is_proposed(open_house: House, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": range(30), "y": [i % 2 for i in range(30)], "m": 0.5})
    frame["m"] = [i / 30 for i in range(30)]
    with pandas.ExcelWriter(tmp_path / "a.xlsx") as book:
        frame.to_excel(book, sheet_name="scores", index=False)
        frame.to_excel(book, sheet_name="other", index=False)
    open_house.upload(tmp_path / "a.xlsx")
    open_house.work()
    page = open_house.client.get("/files/1").text
    assert '<input name="sheet" value="scores"' in page
    assert 'name="delimiter"' not in page
    open_house.post("/files/1/mapping", sheet="other")
    open_house.work()
    assert find_mapping(open_house)[0]["sheet"] == "other"


def test_a_value_that_was_typed_is_not_replaced_by_a_proposal(
    open_house: House, scores: Path
) -> None:
    open_house.upload(scores)
    open_house.work()
    open_house.post("/files/1/mapping", delimiter=";")
    open_house.work()
    assert '<input name="delimiter" value=";"' in open_house.client.get("/files/1").text


@pytest.mark.parametrize(
    ("column", "part", "kept"),
    [
        (0, "out", {"id": "id"}),
        (0, "shown", {"id": "id"}),
        (2, "shown", {"label": "y"}),
        (5, "out", {"groups": "group_site"}),
    ],
)
def test_a_column_with_a_usual_name_can_have_another_part(
    open_house: House, scores: Path, column: int, part: str, kept: dict[str, str]
) -> None:
    """Set to another part, id was still taken for the id of the rows."""
    open_house.upload(scores)
    open_house.work()
    ((was, name),) = kept.items()
    open_house.post("/files/1/mapping", **{f"part-{column}": part})
    open_house.work()
    for _ in range(2):
        record = open_house.db.run_now(lambda store: store.find_file(1))
        page = open_house.client.get("/files/1").text
        assert 'class="trouble"' not in page
        assert record.read["ignore"] == [name]
        chosen = re.search(rf'name="part-{column}".*?value="(\w+)" selected', page)
        assert chosen is not None
        assert chosen[1] == part
        look = open_house.db.run_now(lambda store: store.find_job(store.find_file(1).look))
        found = (open_house.settings.results / look.key / "look.json").read_text()
        assert json.loads(found)["columns"][column]["role"] != was
        assert ('"labeled": 12' in found) == (was != "label")
        assert ('"groups": ["site"]' in found) == (was != "groups")
        parts = dict(re.findall(r'name="(part-\d+)".*?value="(\w+)" selected', page))
        open_house.post("/files/1/mapping", **parts, level="90")
        open_house.work()


def test_labels_given_by_hand_keep_their_rows_and_classes(
    open_house: House, scores: Path, tmp_path: Path
) -> None:
    """Naming the classes after labeling broke every later evaluation."""
    lines = scores.read_text().splitlines()
    path = tmp_path / "plain.csv"
    path.write_text(
        "\n".join(",".join([*(c := line.split(","))[:2], *c[3:5]]) for line in lines) + "\n"
    )
    open_house.upload(path)
    open_house.work()
    open_house.post("/files/1/mapping")
    open_house.work()
    open_house.begin()
    open_house.work()
    for number in range(12):
        row = row_of(open_house.client.get("/files/1/label").text)
        open_house.mark("/files/1/label", row=row, label=str(number % 2))
        open_house.work()
    before = find_mapping(open_house)
    for fields, wrong in (
        ({"classes": "ham, spam"}, "labels 0, 1 were given by hand"),
        ({"part-0": "out"}, "name each row by column 'id'"),
        ({"part-0": "shown", "part-1": "id"}, "name each row by column 'id'"),
    ):
        open_house.post("/files/1/mapping", **fields, columns_from="2")
        open_house.work()
        page = read_text(open_house.client.get("/files/1").text)
        assert wrong in page
        assert find_mapping(open_house) == before
    open_house.post("/files/1/evaluate")
    assert "evaluate done" in open_house.work()
    open_house.post("/files/1/mapping", classes="1, 0", columns_from="2")
    open_house.work()
    assert find_mapping(open_house)[0]["classes"] == [1, 0]


def test_judges_and_one_row_per_score_are_read_on_the_page(
    open_house: House, tmp_path: Path
) -> None:
    """Whatever `ssme evaluate` reads: columns of answers, and long tables with unusual names."""
    words = ("no", "yes")
    rows = [(i, i % 2, (i // 3) % 2, (i // 5) % 2) for i in range(60)]
    judges = [f"r{i},{words[a]},{words[b]},{words[y] if i < 20 else ''}" for i, y, a, b in rows]
    (tmp_path / "judges.csv").write_text("\n".join(["id,ann,bob,label", *judges]))
    scores = [
        f"r{i},{model},{(i * step % 97) / 97:.4f},{y if i < 20 else ''}"
        for i, y, _, _ in rows
        for model, step in (("bert", 7), ("gpt", 11))
    ]
    (tmp_path / "long.csv").write_text("\n".join(["item,who,value,truth", *scores]))
    open_house.upload(tmp_path / "judges.csv")
    open_house.work()
    page = open_house.client.get("/files/1").text
    for number in (1, 2):
        assert re.search(rf'name="part-{number}".*?value="answers" selected', page), "as advised"
    open_house.post("/files/1/mapping")
    open_house.work()
    text = read_text(open_house.client.get("/files/1").text)
    assert "Models 2 ann , bob" in text
    open_house.upload(tmp_path / "long.csv")
    open_house.work()
    parts = {"part-0": "id", "part-1": "model", "part-2": "score", "part-3": "label"}
    open_house.post("/files/2/mapping", **parts)
    open_house.work()
    text = read_text(open_house.client.get("/files/2").text)
    assert "Rows 60" in text
    assert "Models 2 bert , gpt" in text
    for number in (1, 2):
        open_house.post(f"/files/{number}/evaluate")
    assert open_house.work().count("evaluate done") == 2


def test_classes_without_a_known_order_are_named(open_house: House, tmp_path: Path) -> None:
    lines = ["id,y,a:low,a:mid,a:top,b:low,b:mid,b:top"]
    for i in range(40):
        scores = [[(i * k) % 7 + 1 for k in of] for of in ((3, 5, 2), (4, 1, 6))]
        cells = [f"{v / sum(of):.6f}" for of in scores for v in of]
        lines.append(f"r{i},{('low', 'mid', 'top')[i % 3] if i < 15 else ''},{','.join(cells)}")
    (tmp_path / "three.csv").write_text("\n".join(lines))
    open_house.upload(tmp_path / "three.csv")
    open_house.work()
    text = read_text(open_house.client.get("/files/1").text)
    assert "Their order is not known" in text
    open_house.post("/files/1/mapping", classes="low, mid, top")
    open_house.work()
    assert "Their order is not known" not in read_text(open_house.client.get("/files/1").text)


def test_what_a_file_holds_is_guessed_as_it_is_read(open_house: House, tmp_path: Path) -> None:
    """Columns of a class each became models, and annotators saw which system answered."""
    models = [f"{model}_{sort}" for model in "xy" for sort in ("ham", "spam", "ad")]
    scores = ("0.1,0.2,0.7,0.5,0.4,0.1", "0.8,0.2,0.0,0.1,0.6,0.3", "0.3,0.4,0.3,0.2,0.2,0.6")
    lines = [f"r{i},text {i},{i},gpt,claude,,{scores[i % 3]}" for i in range(30)]
    path = tmp_path / "mail.csv"
    head = ",".join(["id", "text", "length", "system_a", "system_b", "sort", *models])
    path.write_text("\n".join([head, *lines]) + "\n")
    open_house.upload(path)
    open_house.work()
    open_house.post("/files/1/mapping", **{"part-5": "label"})
    open_house.work()
    text = read_text(open_house.client.get("/files/1").text)
    assert "2 columns were taken for models because of their values: x , y" in text
    read, _, shown = find_mapping(open_house)
    assert read == {"label": "sort", "id": "id", "ignore": ["length"]}
    assert "system_a" not in (shown or ["system_a"])
    open_house.begin()
    open_house.work()
    text = read_text(open_house.client.get("/files/1/label").text)
    assert "length" in text
    assert "gpt" not in text
    assert "x_" not in text

"""Guideline, notes, my labels, overlap, hidden results, pictures next to a file, https."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import json
import re
import ssl
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.serve.running import Running
from tests.serve.conftest import ADDRESS, House
from tests.serve.test_labeling import LABEL, row_of

from ssme.errors import InputError
from ssme.serve import exchange
from ssme.serve.labels import AT_RANDOM, StoredSuggestion
from ssme.serve.settings import ServeSettings
from ssme.serve.store import Store
from ssme.spec import RunSpec

pytestmark = pytest.mark.web

CERTIFICATE = Path(__file__).parent / "certificate.pem"


def test_a_guideline_is_shown_as_markdown_without_foreign_html(ready: House) -> None:
    text = "**Toxic** is what *insults*.\r\n\r\n<script>alert(1)</script> [x](javascript:alert(1))"
    ready.post("/files/1/guide", text=text, **{"class-1": "it insults <somebody>"})
    page = ready.client.get(LABEL).text
    assert "<strong>Toxic</strong>" in page
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert "it insults &lt;somebody&gt;" in page
    assert re.search(r'value="1" data-key="1" title="it insults &lt;somebody&gt;"', page)
    form = html.unescape(ready.client.get("/files/1").text)
    assert text.replace("\r\n", "\n") in form


def test_a_note_is_kept_with_the_row_and_a_note_alone_is_no_label(ready: House) -> None:
    row = row_of(ready.client.get(LABEL).text)
    card = ready.mark(LABEL, row=row, do="note", note="ask <Eve>")["card"]
    assert row_of(card) == row
    assert 'name="note" maxlength="1000" value="ask &lt;Eve&gt;"' in card
    ready.mark(LABEL, row=row, label="1", key="k", note="ask <Eve> and Bob")
    (line,) = csv.DictReader(io.StringIO(ready.client.get("/files/1/labels.csv").text))
    assert (line["label"], line["note"]) == ("1", "ask <Eve> and Bob")
    back = ready.mark(LABEL, row="null", do="back")["card"]
    assert "ask &lt;Eve&gt; and Bob" in back
    ready.mark(LABEL, row=row, label="0", key="l", note="")
    assert 'value=""' in ready.mark(LABEL, row="null", do="back")["card"]


def test_my_labels_are_searched_filtered_and_opened_again(ready: House) -> None:
    card, rows = ready.client.get(LABEL).text, []
    for number, action in enumerate(({"label": "1"}, {"label": "0"}, {"do": "unsure"})):
        rows.append(row_of(card))
        note = {"note": "odd ÄÖ"} if number == 1 else {}
        card = ready.mark(LABEL, row=rows[-1], key=f"k{number}", **action, **note)["card"]

    def listed(**query: str) -> list[str]:
        page = ready.client.get("/files/1/mine", params=query).text
        return re.findall(r'label\?row=([^"]*)"', page)

    def names(*numbers: int) -> list[str]:
        return [f"%22{json.loads(rows[i])}%22" for i in numbers]

    assert listed() == names(2, 1, 0)
    assert listed(label="1") == names(0)
    assert listed(label="null") == names(2)
    assert listed(label="noted") == names(1)
    assert listed(q="ODD äö".replace("äö", "ÄÖ")) == names(1)
    assert listed(q=json.loads(rows[2])) == names(2)
    assert listed(q="nothing of that kind") == []
    assert listed(page="1") == []
    again = ready.client.get(LABEL, params={"row": rows[0]}).text
    assert row_of(again) == rows[0]
    assert "you said 1" in again
    other = ready.browser()
    ready.enter("Bob", other)
    assert "label?row=" not in other.get("/files/1/mine").text


@pytest.mark.parametrize(
    ("every", "people", "shared_rows"), [(0, 2, 0), (2, 2, 3), (3, 2, 2), (5, 2, 2), (5, 3, 2)]
)
def test_so_many_rows_go_to_several_people(
    house: House, every: int, people: int, shared_rows: int
) -> None:
    rows = [StoredSuggestion(f"r{i}", 1, i, (), 0.5, "") for i in range(6)]

    def label_all(store: Store) -> int:
        store.update_file(open_nothing(store), double_every=every, people=people)
        store.add_suggestions("file 1", rows)
        counts = dict.fromkeys((row.row for row in rows), 0)
        for person in ("ada", "bob", "eve"):
            while (view := store.next_row("file 1", person)).row is not None:
                store.give_label("file 1", person, view.row.row, 1, f"{person} {view.row.row}")
                counts[view.row.row] += 1
        assert set(counts.values()) <= {1, people}
        return sum(n == people for n in counts.values())

    assert house.db.run_now(label_all) == shared_rows


def open_nothing(store: Store) -> int:
    """A file of the project that nobody reads."""
    return store.add_file("/nothing.csv", "nothing.csv", "0", 1, 1)


def test_a_row_on_which_two_differ_goes_to_a_third_and_the_majority_counts(house: House) -> None:
    rows = [StoredSuggestion(f"r{i}", 1, i, (), 0.5, "") for i in range(2)]

    def label(store: Store) -> None:
        store.update_file(open_nothing(store), double_every=1)
        store.add_suggestions("file 1", rows)
        for person, labels in {"ada": (1, 1), "bob": (0, 1)}.items():
            for row, given in zip(rows, labels, strict=True):
                store.give_label("file 1", person, row.row, given, f"{person} {row.row}")
        assert store.next_row("file 1", "eve").row is None
        store.update_file(1, third=1)
        store.settle_again("file 1")
        view = store.next_row("file 1", "eve")
        assert view.row is not None
        assert (view.row.row, view.left, view.conflicts) == ("r0", 1, 1)
        assert store.next_row("file 1", "dan").row is None, "Eve is looking at it"
        store.give_label("file 1", "eve", "r0", 0, "eve")
        assert [each[:2] for each in store.list_settled_labels("file 1")] == [["r0", 0], ["r1", 1]]
        assert store.read_totals("file 1")["conflicts"] == 0
        assert all(store.next_row("file 1", who).row is None for who in ("ada", "bob", "dan"))
        store.update_file(1, third=0)
        store.undo_label("file 1", "eve", "undo")
        assert [each[:2] for each in store.list_settled_labels("file 1")] == [["r1", 1]]

    house.db.run_now(label)


def test_rows_are_divided_by_share_and_by_group_with_their_probabilities(house: House) -> None:
    """Each label of a person stands for the rows of the round that were theirs."""
    rows = [
        StoredSuggestion(f"r{i}", 1, i, (), 0.1, AT_RANDOM, {"site": "ab"[i % 2]})
        for i in range(200)
    ]

    def label(store: Store) -> None:
        store.update_file(open_nothing(store), double_every=0)
        store.update_person(1, "ada", share=0.25)
        store.update_person(1, "bob", share=1.0, group="site=b")
        store.add_suggestions("file 1", rows)
        sizes = {who: store.count_waiting("file 1", who) for who in ("ada", "bob", "eve")}
        anybody = sizes["eve"]  # what is in nobody's share, which Ada and Bob may label, too
        own = sizes["ada"] - anybody
        assert (sizes["bob"] - anybody, own + anybody) == (100, 100)
        assert 15 <= own <= 35
        of = dict(store._fetch("SELECT row, assigned FROM suggestion"))
        given: dict[str, list[str]] = {"ada": [], "bob": [], "": []}
        for number in range(60):
            view = store.next_row("file 1", ("ada", "bob", "eve")[number % 3])
            assert view.row is not None
            whose = of[json.dumps(view.row.row)]
            assert (view.row.groups["site"] == "b") == (whose == "bob")
            given[whose].append(view.row.row)
            store.give_label("file 1", view.row.row, view.row.row, 1, view.row.row)
        sizes = {"ada": own, "bob": 100, "": anybody}
        wanted = {row: 0.1 * len(rows) / sizes[who] for who, rows in given.items() for row in rows}
        found = {row: chance for row, _, chance, *_ in store.list_settled_labels("file 1")}
        assert all(given.values())
        assert found == pytest.approx(wanted)

    house.db.run_now(label)


def test_the_owner_assigns_rows_on_the_page(ready: House) -> None:
    guest = ready.browser()
    csrf = ready.enter("Bob", guest, role="guest")
    assert ready.post("/files/1/assign", guest, csrf, who="Bob").status_code == 403
    for share, group in (("4", ""), ("x", ""), ("101", ""), ("", "nowhere=1")):
        fields = {"who": "Bob", "share-0": share, "group-0": group}
        assert ready.post("/files/1/assign", **fields).status_code == 400
    ready.post("/files/1/mapping", **{"part-2": "label", "part-5": "groups", "classes": "0, 1"})
    ready.work()
    assert "site=a</option>" in ready.client.get("/files/1/people").text
    fields = {"who": ["Ada", "Bob"], "share-0": "30", "group-1": "site=a"}
    ready.post("/files/1/assign", **fields)
    found = ready.db.run_now(lambda store: store.list_assigned(1))
    assert found == [("Ada", 0.3, ""), ("Bob", 1.0, "site=a")]


def test_whoever_has_no_row_gets_a_round_unless_none_is_theirs(ready: House) -> None:
    store = ready.db.run_now
    assert ready.work() == []
    store(lambda s: [s.skip_row("file 1", "Ada", r) for r in s.list_cells("file 1")])
    ready.client.get(LABEL)
    assert ready.work() == []  # rows that were put off still wait
    for who in (f"P{i}" for i in range(20)):
        store(lambda s, who=who: s.next_row("file 1", who))
    late = ready.browser()
    ready.enter("Late", late)
    late.get(LABEL)
    assert ready.work() == ["rows done"]
    assert 'name="label"' in late.get(LABEL).text


def test_the_owner_sets_overlap_and_who_sees_results(ready: House) -> None:
    for wrong in ("1", "x", "-2"):
        assert ready.post("/files/1/labeling", double_every=wrong).status_code == 400
    ready.post("/files/1/labeling", double_every="0", design="random")
    record = ready.db.run_now(Store.find_file, 1)
    assert (record.double_every, record.design, bool(record.shared)) == (0, "random", False)
    assert "is shown to 2 people" not in ready.client.get(LABEL).text.split("<form")[1]


RESULTS = ("result", "history", "tightening", "plan")


def test_guests_see_no_result_until_the_owner_shows_it(ready: House) -> None:
    ready.post("/files/1/evaluate")
    assert "evaluate done" in ready.work()
    job = ready.db.run_now(Store.list_jobs, 1, "evaluate")[0].id
    guest: Any = ready.browser()
    ready.enter("Bob", guest, role="guest")
    pages = [f"/files/1/{name}" for name in RESULTS]
    pages += [f"/jobs/{job}/{name}" for name in ("charts", "estimates.csv", "report.html")]
    assert [guest.get(path).status_code for path in pages] == [403] * len(pages)
    page = guest.get(LABEL).text
    assert "Results are hidden while you label" in page
    assert "labels: take" not in page
    assert "/files/1/result" not in page
    assert "labels: take" in ready.client.get(LABEL).text
    ready.post("/files/1/labeling", double_every="5", shared="1")
    ready.work()
    assert [guest.get(path).status_code for path in pages[:-1]] == [200] * (len(pages) - 1)
    assert "labels: take" in guest.get(LABEL).text


def test_a_person_who_labels_has_a_speed(ready: House) -> None:
    card = ready.client.get(LABEL).text
    for number in range(3):
        card = ready.mark(LABEL, row=row_of(card), label="1", key=f"k{number}")["card"]
    person = ready.db.run_now(Store.list_people, ["file 1"])["Ada"]
    assert 0.0 <= person["seconds"] < 60.0
    assert "seconds a label" in ready.client.get("/files/1/people").text


def test_pictures_next_to_a_file_are_shown_without_a_root(tmp_path: Path, scores: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + b"0" * 20
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.png").write_bytes(picture)
    (tmp_path / "outside.png").write_bytes(picture)
    lines = scores.read_text().splitlines()
    table = [f"{lines[0]},picture", *(f"{line},a.png" for line in lines[1:])]
    table[1] = table[1].replace("a.png", "../outside.png")
    (folder / "scores.csv").write_text("\n".join(table) + "\n")
    house = House(ServeSettings(tmp_path / "project", batch=30))
    with house.db:
        house.enter()
        project = house.app.app.state.project
        asyncio.run(project.add_file(folder / "scores.csv"))
        house.work()
        house.begin()
        house.work()
        shown = re.findall(r'src="(/files/1/image[^"]+)"', house.client.get("/files/1/label").text)
        assert house.client.get(html.unescape(shown[0])).content == picture
        outside = html.unescape(shown[0]).replace("a.png", "..%2Foutside.png")
        assert house.client.get(outside).status_code == 400


def test_health_is_asked_without_a_session(house: House) -> None:
    answer = house.browser().get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    house.db.run_now(lambda store: store._execute("DROP TABLE label_event"))
    assert house.browser().get("/health").status_code == 503


def test_a_certificate_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as found:
        ServeSettings(certificate=tmp_path / "none.pem")
    assert found.value.option == "certificate"
    with pytest.raises(InputError, match="certificate_key"):
        ServeSettings(certificate_key=CERTIFICATE)


def test_the_page_is_served_by_https(tmp_path: Path) -> None:
    running = Running(tmp_path / "project", "--certificate", str(CERTIFICATE))
    with running:
        assert running.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cafile=str(CERTIFICATE))
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))
        answer = opener.open(running.entrance)
        assert "Secure" in answer.headers["set-cookie"]
        running.stop()


def send_labels(house: House, name: str, content: bytes, client: Any = None) -> Any:
    """Import a file of labels; where the browser is sent, or the error."""
    return (
        (client or house.client)
        .put(
            "/files/1/labels",
            params={"name": name},
            content=content,
            headers={"origin": ADDRESS, "x-csrf": house.csrf, "accept": "application/json"},
        )
        .json()
    )


def read_all(house: House) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(house.client.get("/files/1/labels.csv").text))]


def unlabeled_rows(house: House, count: int) -> list[str]:
    """Names of rows, those that are to be labeled next first."""
    page = house.client.get(LABEL).text
    first = json.loads(html.unescape(row_of(page)))
    return [first, *(f"row-{i}" for i in range(60, 60 + count) if f"row-{i}" != first)][:count]


def test_labels_of_a_table_are_imported_once_and_count(ready: House) -> None:
    rows = unlabeled_rows(ready, 3)
    lines = [f"{rows[0]},1,Eve,odd", f"{rows[1]},0,Eve,", f"{rows[1]},1,Bob,", f"{rows[2]},,Eve,"]
    text = "\n".join(["id,label,annotator,note", *lines]).encode()
    for _ in range(2):
        page = send_labels(ready, "theirs.csv", text)["go"]
        ready.work()
        assert "Imported: 3 labels, 0 proposals." in ready.client.get(page).text
    kept = [
        (line["id"], line["label"], line["annotator"], line["note"]) for line in read_all(ready)
    ]
    assert sorted(kept) == sorted(
        [(rows[0], "1", "Eve", "odd"), (rows[1], "0", "Eve", ""), (rows[1], "1", "Bob", "")]
    )
    settled = ready.db.run_now(lambda store: store.list_settled_labels("file 1"))
    assert settled == [[rows[0], 1, None, 0, False]]  # Eve and Bob differ on the other
    assert json.loads(html.unescape(row_of(ready.client.get(LABEL).text))) != rows[0]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.csv", "id,label\nnobody,1\nrow-60,1\n", "no row &#39;nobody&#39;"),
        ("x.csv", "id,label\nrow-60,spam\n", "no class &#39;spam&#39;"),
        ("x.csv", "name,label\nrow-60,1\n", "no column &#39;id&#39;"),
        ("x.csv", "id,other\nrow-60,1\n", "no column &#39;label&#39;"),
        ("x.csv", "id,label\nrow-60,\n", "x.csv has no label"),
        ("x.json", "[1, 2]", "is not a list of Label Studio"),
        ("x.json", '[{"data": {}, "annotations": [{"result": []}]}]', "is not a list of Label"),
    ],
)
def test_a_file_of_labels_is_imported_whole_or_not_at_all(
    ready: House, name: str, text: str, said: str
) -> None:
    page = send_labels(ready, name, text.encode())["go"]
    ready.work()
    shown = ready.client.get(page).text
    assert "No label was imported" in shown
    assert said in shown
    assert read_all(ready) == []


def test_only_owners_import_labels_and_only_of_kinds_that_are_read(ready: House) -> None:
    assert "cannot be read" in send_labels(ready, "x.exe", b"id,label\n")["error"]["got"]
    guest = ready.browser()
    ready.enter("Bob", guest, role="guest")
    assert "error" in send_labels(ready, "x.csv", b"id,label\nrow-60,1\n", guest)
    assert read_all(ready) == []


def test_tasks_of_label_studio_are_written_and_read_back(ready: House) -> None:
    ready.post("/files/1/names", **{"name-0": "ham", "name-1": "spam"})
    first = row_of(ready.client.get(LABEL).text)
    ready.mark(LABEL, row=first, label="1", key="k", note="odd")
    (task,) = ready.client.get("/files/1/labels.json").json()
    assert task["data"]["id"] == json.loads(html.unescape(first))
    assert set(task["data"]) > {"id"}  # the row's content, without what the models say
    (annotation,) = task["annotations"]
    annotation["completed_by"] = {"id": 7, "email": "eve@example.org"}
    annotation["result"][0]["value"]["choices"] = ["ham"]
    other = {"id": "row-60", "label": "spam", "annotator": 3, "annotation_id": 9}  # JSON-MIN
    skipped = {"data": {"id": "row-61"}, "annotations": [{"was_cancelled": True, "result": []}]}
    content = json.dumps([task, other, skipped]).encode()
    page = send_labels(ready, "export.json", content)["go"]
    ready.work()
    assert "Imported: 2 labels, 0 proposals." in ready.client.get(page).text
    kept = {(line["id"], line["label"], line["annotator"]) for line in read_all(ready)}
    row = task["data"]["id"]
    assert kept == {(row, "1", "Ada"), (row, "0", "eve@example.org"), ("row-60", "1", "3")}


PROPOSED = [
    ("x.csv", lambda row: f"id,Prelabel\n{row},1\nrow-61,0\n"),
    (
        "x.json",
        lambda row: json.dumps(
            [
                {"data": {"id": name}, "predictions": [{"result": [{"value": {"choices": [c]}}]}]}
                for name, c in ((row, "1"), ("row-61", "0"))
            ]
        ),
    ),
]


@pytest.mark.parametrize(("name", "write"), PROPOSED)
def test_proposals_are_shown_where_the_owner_wants_and_labels_say_so(
    ready: House, name: str, write: Callable[[str], str]
) -> None:
    first = row_of(ready.client.get(LABEL).text)
    page = send_labels(ready, name, write(json.loads(html.unescape(first))).encode())["go"]
    ready.work()
    shown = ready.client.get(page).text
    assert "Imported: 0 labels, 2 proposals." in shown
    assert "Nobody sees proposals until an owner switches them on" in shown
    assert "Proposed:" not in ready.client.get(LABEL).text
    assert read_all(ready) == []
    ready.post("/files/1/labeling", double_every="5", proposed="1")
    card = ready.client.get(LABEL).text
    assert (row_of(card), "Proposed: <strong>" in card) == (first, True)
    assert re.search('name="label" value="1" class="plain" data-key="a"', card)
    card = ready.mark(LABEL, row=first, label="0", key="k0", proposed="1")["card"]
    assert "No class is proposed for this row." in card
    for number in range(1, 6):
        card = ready.mark(LABEL, row=row_of(card), label="1", key=f"k{number}")["card"]
    kept = [(line["label"], line["proposal"]) for line in read_all(ready)]
    assert kept == [("0", "1"), *[("1", "")] * 5]
    (task,) = (
        t
        for t in ready.client.get("/files/1/labels.json").json()
        if "predictions" in t and t["annotations"]
    )
    assert task["predictions"][0]["result"][0]["value"] == {"choices": ["1"]}
    ready.post("/files/1/evaluate")
    assert "evaluate done" in ready.work()
    result = ready.client.get("/files/1/result").text
    assert "1 of 18 labels were given by people who saw which class a file proposes." in result


def test_labels_that_were_given_with_proposals_come_back_as_such(ready: House) -> None:
    (row,) = unlabeled_rows(ready, 1)
    text = f"id,label,annotator,proposal\n{row},1,Eve,1\n".encode()
    send_labels(ready, "theirs.csv", text)
    ready.work()
    settled = ready.db.run_now(lambda store: store.list_settled_labels("file 1"))
    assert settled == [[row, 1, None, 0, True]]
    (line,) = read_all(ready)
    assert (line["label"], line["proposal"]) == ("1", "1")


def write_labels(
    folder: Path, ids: list[str], classes: list[str], labels: str, name: str = "labels.csv"
) -> list[Any]:
    rows = [f"{name},.{i + 1},.{9 - i},{classes[i % 2]}" for i, name in enumerate(ids)]
    (folder / "scores.csv").write_text("\n".join(["patientID,a,b,label", *rows]))
    (folder / name).write_text(labels)
    spec = RunSpec(
        source=str(folder / "scores.csv"), read={"id": "patientID", "classes": tuple(classes)}
    )
    request = {
        "config": spec.to_dict(),
        "labels": str(folder / name),
        "classes": classes,
        "names": None,
    }
    exchange.write_labels(request, folder)
    return json.loads((folder / "labels.json").read_text())["labels"]


def test_imported_labels_are_of_the_very_rows_and_classes_of_the_data(tmp_path: Path) -> None:
    ids, classes = ["1", "1.0", "b"], ["None", "x"]
    text = "row,patientID,label,annotator\nb,1,x,7\nb,1.0,None,7.0\nb,b,x,\n"
    found = write_labels(tmp_path, ids, classes, text)
    assert [line[:3] for line in found] == [
        ["1", "x", "7"],
        ["1.0", "None", "7"],
        ["b", "x", "imported"],
    ]
    with pytest.raises(InputError, match=r"no row 1\.0"):
        write_labels(tmp_path, ids, classes, "id,label\n1,x\n1.0,None\n")


def test_imported_ids_that_were_rounded_are_refused(tmp_path: Path) -> None:
    ids = [str(2**53 + i) for i in range(4)]
    with pytest.raises(InputError, match="may be rounded"):
        write_labels(tmp_path, ids, ["n", "y"], f"id,label\n{ids[1]}.0,y\n")


def test_a_row_with_two_answers_of_one_person_is_refused(tmp_path: Path) -> None:
    answers = [{"value": {"rating": 1}}, {"value": {"choices": ["0"]}}]
    tasks = [{"data": {"id": "r1"}, "annotations": [{"completed_by": 1, "result": answers}]}]
    with pytest.raises(InputError, match="2 choices for one row"):
        write_labels(tmp_path, ["r1", "r2"], ["0", "1"], json.dumps(tasks), "labels.json")


def test_who_saw_a_proposal_before_changing_a_label_saw_it(ready: House) -> None:
    row = row_of(ready.client.get(LABEL).text)
    proposal = f"id,proposal\n{json.loads(html.unescape(row))},1\n".encode()
    send_labels(ready, "theirs.csv", proposal)
    ready.work()
    ready.post("/files/1/labeling", double_every="5", proposed="1")
    ready.mark(LABEL, row=row, label="0", key="k0", proposed="1")
    ready.post("/files/1/labeling", double_every="5")
    ready.mark(LABEL, row=row, label="1", key="k1")
    (settled,) = ready.db.run_now(lambda store: store.list_settled_labels("file 1"))
    assert (settled[1], settled[4]) == (1, True)

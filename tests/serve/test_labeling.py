"""Rows to label: who gets which, what is kept of a label, what comes of it."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import House

from ssme.serve.labeling import find_keys
from ssme.serve.labels import AT_RANDOM, StoredSuggestion
from ssme.serve.store import Store

pytestmark = pytest.mark.web

LABEL = "/files/1/label"


def row_of(card: str) -> Any:
    found = re.search(r'name="row" value="([^"]*)"', card)
    assert found is not None
    return found[1].replace("&#34;", '"')


def events(house: House) -> tuple[Any, ...]:
    return house.db.run_now(lambda store: store.memory("file 1").label_events())


def test_a_label_is_in_the_memory_with_its_probability_when_the_page_says_so(ready: House) -> None:
    row = row_of(ready.client.get(LABEL).text)
    answer = ready.mark(LABEL, key="k1", row=row, label="1")
    assert answer["mine"] == 1
    (event,) = events(ready)
    assert (event.row, event.label, event.annotator) == (json.loads(row), 1, "Ada")
    assert 0.0 < event.probability <= 1.0
    assert row_of(answer["card"]) != row


def test_what_0_and_1_mean_is_asked_before_the_first_label(open_house: House, scores: Path) -> None:
    open_house.upload(scores)
    open_house.work()
    page = open_house.client.get(LABEL).text
    assert open_house.work() == ["rows done"], "rows are chosen meanwhile"
    assert "What do 0 and 1 mean?" in page
    assert 'name="label"' not in page
    same = {"name-0": "spam", "name-1": "spam"}
    assert open_house.post("/files/1/names", **same).status_code == 400
    open_house.post("/files/1/names", **{"name-0": "ham", "name-1": " <b>spam", "back": "label"})
    card = open_house.client.get(LABEL).text
    assert "What do 0 and 1 mean?" not in card
    buttons = re.findall(r'data-key="(.)"><kbd>(.)</kbd> <bdi>([^/]*)</bdi>', card)
    assert buttons == [("0", "0", "ham"), ("1", "1", "&lt;b&gt;spam")]
    answer = open_house.mark(LABEL, row=row_of(card), label="1")
    assert answer["said"] == "Labeled <b>spam."
    assert events(open_house)[0].label == 1, "labels are stored as they are in the file"
    back = open_house.mark(LABEL, row="null", do="back")["card"]
    assert "you said &lt;b&gt;spam" in back
    open_house.post("/files/1/names", **{"name-0": "no", "name-1": "yes"})
    open_house.post("/files/1/evaluate")
    assert "evaluate done" in open_house.work()


def test_0_and_1_can_stay_as_they_are(open_house: House, scores: Path) -> None:
    open_house.upload(scores)
    open_house.work()
    guest = open_house.browser()
    open_house.enter("Bob", guest, role="guest")
    open_house.client.get(LABEL)
    open_house.work()
    assert "Ask before you label" in guest.get(LABEL).text
    open_house.post("/files/1/names", **{"name-0": "ham", "plain": "1"})
    for client in (open_house.client, guest):
        card = client.get(LABEL).text
        assert "mean" not in card.split('id="card"')[1].split("</form>")[0]
        assert "<bdi>0</bdi>" in card


@pytest.mark.parametrize(
    ("classes", "keys"),
    [
        ([0, 1], "01"),
        (["1", "0"], "10"),
        ([3, 1, 2], "312"),
        ([*range(12)], "0123456789qw"),
        ([False, True], "01"),
        (["no", "yes"], "12"),
        (["0", "other"], "02"),
        (["other", "1"], "q1"),
        ([10, 20], "qw"),
        (["-1", "1"], "q1"),
        (["0.5", "1.5"], "qw"),
    ],
)
def test_no_number_answers_to_the_digit_of_another(classes: list[Any], keys: str) -> None:
    assert find_keys(classes) == [*keys]
    assert len(find_keys([f"class {i}" for i in range(40)])) == 40


def test_a_label_sent_twice_is_kept_once(ready: House) -> None:
    row = row_of(ready.client.get(LABEL).text)
    for _ in range(3):
        ready.mark(LABEL, key="k1", row=row, label="1")
    assert len(events(ready)) == 1


def test_unsure_skip_back_and_undo(ready: House) -> None:
    first = row_of(ready.client.get(LABEL).text)
    second = row_of(ready.mark(LABEL, row=first, do="unsure")["card"])
    assert events(ready)[-1].label is None
    third = row_of(ready.mark(LABEL, row=second, do="skip")["card"])
    assert third not in (first, second)
    ready.mark(LABEL, row=third, label="0")
    back = ready.mark(LABEL, row="null", do="back")["card"]
    assert row_of(back) == third
    assert "you said 0" in back
    assert row_of(ready.mark(LABEL, row=third, do="back")["card"]) == first
    assert row_of(ready.mark(LABEL, row="null", do="undo")["card"]) == third
    assert [event.label for event in events(ready)] == [None, 0, None]
    assert json.loads(third) not in dict(
        ready.db.run_now(lambda store: {row[0]: row for row in store.list_settled_labels("file 1")})
    )


def test_labels_that_were_never_asked_for_are_refused(ready: House) -> None:
    answer = ready.mark(LABEL, row='"nobody"', label="1")
    assert "not among those" in answer["error"]["got"]
    assert ready.mark(LABEL, row=row_of(ready.client.get(LABEL).text), label="7")["error"]
    assert events(ready) == ()


def test_scores_are_not_shown(ready: House, scores: Path) -> None:
    page = ready.client.get(LABEL).text
    name = json.loads(row_of(page))
    line = next(csv.DictReader(io.StringIO(scores.read_text()))).keys()
    row = next(r for r in csv.DictReader(io.StringIO(scores.read_text())) if r["id"] == name)
    assert {"text", "good", "bad"} <= {*line}
    assert row["text"] in page
    assert row["good"] not in page
    assert row["bad"] not in page
    assert "What the models say is not shown" in page
    asked = ready.client.get(f"{LABEL}?scores=shown").text
    sure = max(float(row["good"]), 1 - float(row["good"]))
    assert re.search(rf"<bdi>good</bdi>: <bdi>[01] \({sure:.2f}\)</bdi>", asked)
    assert f'data-mark="{LABEL}?scores=shown"' in asked


def test_two_people_get_different_rows_but_for_every_fifth(ready: House) -> None:
    other = ready.browser()
    csrf = ready.enter("Bob", other)
    seen: dict[str, list[str]] = {"Ada": [], "Bob": []}
    cards = {"Ada": ready.client.get(LABEL).text, "Bob": other.get(LABEL).text}
    for number in range(3):
        for who, client, token in (("Ada", ready.client, ready.csrf), ("Bob", other, csrf)):
            row = row_of(cards[who])
            seen[who].append(row)
            label = "1" if who == "Ada" or number else "0"
            cards[who] = ready.mark(LABEL, client, token, row=row, label=label)["card"]
    assert seen["Ada"][0] == seen["Bob"][0]
    assert len({*seen["Ada"], *seen["Bob"]}) == 5
    people = ready.client.get("/files/1/people").text
    assert "kappa" in people.lower()
    assert "1</td>" in people
    assert json.loads(seen["Ada"][0]) in people
    labels = ready.db.run_now(Store.list_settled_labels, "file 1")
    assert len(labels) == 4
    row = seen["Ada"][0]
    assert ready.post("/files/1/adjudicate", row=row, label="0", key="v").status_code == 303
    settled = {each[0]: each[1] for each in ready.db.run_now(Store.list_settled_labels, "file 1")}
    assert settled[json.loads(row)] == 0


def test_after_a_batch_the_estimates_are_made_anew(ready: House) -> None:
    card, job = ready.client.get(LABEL).text, None
    for number in range(5):
        answer = ready.mark(LABEL, row=row_of(card), label=str(number % 2))
        card, job = answer["card"], answer["job"]
    assert job is not None
    assert "evaluate done" in ready.work()
    known = ready.client.get("/files/1/tightening").json()
    assert known["html"].count("<svg") == 2
    assert "With 17 labels: take" in known["decision"]
    assert known["decision"] in ready.client.get(LABEL).text
    result = ready.client.get("/files/1/result").text
    assert "17 labeled" in result
    assert "5 more labels." not in ready.client.get("/files/1/history").text
    for name in ("estimates.csv", "summary.json", "config.toml", "labels.csv"):
        answer = ready.client.get(f"/jobs/{job}/{name}")
        assert answer.status_code == 200
        assert "attachment" in answer.headers["content-disposition"]


def test_labels_of_a_round_that_was_not_finished_have_smaller_probabilities(
    open_house: House,
) -> None:
    rows = [StoredSuggestion(f"r{i}", 1, i, (), 0.5, "tells a from b") for i in range(4)]
    rows += [StoredSuggestion(f"r{i}", 2, i, (), 0.2, AT_RANDOM) for i in range(4, 6)]

    def fill(store: Any) -> list[list[Any]]:
        store.add_suggestions("d", rows)
        for name in ("r0", "r4"):
            store.give_label("d", "ada", name, 1, name)
        return store.list_settled_labels("d")

    assert open_house.db.run_now(fill) == [
        ["r0", 1, 0.125, 1, False],
        ["r4", 1, None, 2, False],
    ]


def test_export_has_every_label_with_who_when_and_how_probable(ready: House) -> None:
    row = row_of(ready.client.get(LABEL).text)
    ready.mark(LABEL, row=row, label="1", key="a")
    answer = ready.client.get("/files/1/labels.csv")
    (line,) = csv.DictReader(io.StringIO(answer.text))
    assert (line["id"], line["label"], line["annotator"]) == (json.loads(row), "1", "Ada")
    assert float(line["probability"]) > 0.0
    assert line["counts"] == "True"


def test_a_full_disk_is_said_and_nothing_stored_is_lost(ready: House) -> None:
    row = row_of(ready.client.get(LABEL).text)
    following = row_of(ready.mark(LABEL, row=row, label="1", key="a")["card"])

    def fill(store: Any) -> None:
        on = store.memory("file 1")._connection
        pages = on.execute("PRAGMA page_count").fetchone()[0]
        on.execute(f"PRAGMA max_page_count = {pages}")

    ready.db.run_now(fill)
    said = [ready.mark(LABEL, row=following, label="1", key=f"k{'x' * 4000}{i}") for i in range(9)]
    assert "disk is full" in said[-1]["error"]["got"]
    ready.db.run_now(
        lambda store: store.memory("file 1")._connection.execute("PRAGMA max_page_count = 1000000")
    )
    assert "error" not in ready.mark(LABEL, row=following, label="0", key="b")
    assert {event.key for event in events(ready)} >= {"a", "b"}


def test_a_row_that_vanished_keeps_its_label_and_is_named(ready: House, scores: Path) -> None:
    row = row_of(ready.client.get(LABEL).text)
    ready.mark(LABEL, row=row, label="1")
    (path,) = ready.settings.uploads.rglob("*.csv")
    lines = scores.read_text().splitlines(keepends=True)
    path.write_text("".join(x for x in lines if not x.startswith(f"{json.loads(row)},")))
    changed = ready.client.get(LABEL).text
    assert "was changed on the disk" in changed
    assert ready.post("/files/1/evaluate").status_code == 400
    assert ready.post("/files/1/again").status_code == 303
    ready.work()
    assert ready.post("/files/1/evaluate").status_code == 303
    assert "evaluate done" in ready.work()
    page = ready.client.get("/files/1/result").text
    assert "no longer in the file" in page
    assert json.loads(row) in page
    assert len(events(ready)) == 1


def test_rows_come_again_in_rounds_and_no_row_twice(ready: House) -> None:
    card, seen = ready.client.get(LABEL).text, []
    for number in range(15):
        seen.append(row_of(card))
        card = ready.mark(LABEL, row=seen[-1], label=str(number % 2))["card"]
        if number % 5 == 4:
            ready.work()
            card = ready.client.get(LABEL).text
    assert len({*seen}) == 15
    newest, _ = ready.db.run_now(Store.count_unseen, "file 1")
    assert newest >= 3


def test_a_file_without_labels_is_told_what_to_do_at_every_step(
    open_house: House, scores: Path, tmp_path: Path
) -> None:
    rows = [*csv.reader(scores.read_text().splitlines())]
    path = tmp_path / "reviews.csv"
    with path.open("w", encoding="utf-8", newline="") as target:
        out = csv.writer(target)
        out.writerow(["review", "text", "good", "bad"])
        out.writerows([row[0], row[1], *row[3:5]] for row in rows[1:])
    open_house.upload(path)
    open_house.work()
    assert (
        "press “Use this” as it is if nothing is labeled" in open_house.client.get("/files/1").text
    )
    open_house.post("/files/1/mapping")
    open_house.work()
    page = open_house.client.get("/files/1").text
    part = re.search(r'<select name="part-0".*?</select>', page)
    assert part is not None
    assert '<option value="id" selected>' in part[0]
    assert '<a href="#names">Name them</a>' in page
    open_house.post("/files/1/mapping", **{"part-0": "id", "classes": "no, yes"})
    open_house.work()
    page = open_house.client.get("/files/1").text
    assert "no: 0 labels, yes: 0 labels</p>" in re.sub(r"</?bdi>", "", page)
    open_house.begin()
    open_house.work()
    assert open_house.db.run_now(Store.count_unseen, "file 1") == (1, 3), "the first batch is one"
    card = open_house.client.get(LABEL).text
    row = open_house.db.run_now(Store.next_row, "file 1", "Ada").row
    assert row.reason == "good or bad", "no label is needed to choose rows for the best model"
    open_house.mark(LABEL, row=row_of(card), label="1", key="first")
    assert open_house.work() == ["rows done"]
    assert open_house.db.run_now(Store.count_unseen, "file 1") == (2, 3)


def test_a_plan_is_told_and_its_room_is_kept_meanwhile(ready: House) -> None:
    counting = "is being counted"
    assert counting not in ready.client.get(LABEL).text
    ready.post("/files/1/evaluate")
    ready.work()
    assert counting in ready.client.get(LABEL).text
    answer = ready.client.get("/files/1/plan").json()
    assert counting in answer["html"]
    assert ready.work() == ["plan done"]
    told = ready.client.get("/files/1/plan").json()["html"]
    assert "more labels" in told
    assert told in ready.client.get(LABEL).text


def test_the_last_of_many_classes_can_be_given(open_house: House, tmp_path: Path) -> None:
    names = [f"class {number:02d}" for number in range(62)]
    path = tmp_path / "many.csv"
    with path.open("w", encoding="utf-8", newline="") as target:
        out = csv.writer(target)
        out.writerow(["id", "label", *(f"m:{name}" for name in names)])
        for number in range(70):
            scores = [0.39 if place == number % 62 else 0.01 for place in range(62)]
            out.writerow([f"r{number}", names[number % 62] if number < 62 else "", *scores])
    open_house.upload(path)
    open_house.work()
    open_house.begin()
    open_house.work()
    page = open_house.client.get(LABEL).text
    assert page.count('<button name="label"') == 60
    assert '<option value="61">class 61</option>' in page
    answer = open_house.mark(LABEL, row=row_of(page), do="other", other="61", key="k")
    assert answer["said"] == "Labeled class 61."


def test_a_label_for_a_file_that_changed_is_kept_and_the_page_is_told(
    ready: House, scores: Path
) -> None:
    row = row_of(ready.client.get(LABEL).text)
    path = next(ready.settings.uploads.rglob("scores.csv"))
    path.write_text("\n".join(scores.read_text().splitlines()[:50]) + "\n", encoding="utf-8")
    answer = ready.mark(LABEL, row=row, label="1", key="k")
    assert answer["changed"] == "was changed on the disk"
    assert [event.row for event in events(ready)] == [json.loads(row)]
    assert "once the file was read again" in ready.client.get(LABEL).text


def test_two_classes_as_words_are_offered_by_their_names(
    open_house: House, scores: Path, tmp_path: Path
) -> None:
    words = {"": "", "0": "fine", "1": "toxic"}
    rows = [*csv.reader(scores.read_text().splitlines())]
    path = tmp_path / "words.csv"
    with path.open("w", encoding="utf-8", newline="") as target:
        out = csv.writer(target)
        out.writerow(rows[0])
        out.writerows([*row[:2], words[row[2]], *row[3:]] for row in rows[1:])
    open_house.upload(path)
    open_house.work()
    page = open_house.client.get("/files/1").text
    advice = html.unescape(re.sub(r"<[^>]+>", "", page))
    assert all(f"“Positive class” = '{word}'" in advice for word in ("fine", "toxic"))
    assert re.search(">toxic</option>", page)
    open_house.post("/files/1/mapping", **{"part-2": "label", "positive": "toxic"})
    open_house.work()
    page = open_house.client.get("/files/1").text
    assert "selected>toxic</option>" in page
    assert "fine: 6 labels, toxic: 6 labels" in re.sub(r"</?bdi>", "", page)


def test_why_rows_are_drawn_at_random_is_said_and_kept(open_house: House, scores: Path) -> None:
    """A goal that rows cannot be valued by gave random rows without a word."""
    open_house.upload(scores)
    open_house.work()
    open_house.post("/files/1/mapping", metric="win_rate")
    open_house.work()
    open_house.begin()
    assert open_house.work() == ["rows done"]
    page = open_house.client.get(LABEL).text
    why = "win_rate does not say whether greater is better"
    assert re.search(rf"This row was drawn at random, not by what its label tells: .*{why}", page)
    answer = open_house.mark(LABEL, row=row_of(page), label="1")
    assert why in answer["card"]
    assert why in events(open_house)[0].reason
    assert why in open_house.client.get("/files/1/labels.csv").text
    ((_, label, probability, *_),) = open_house.db.run_now(Store.list_settled_labels, "file 1")
    assert (label, probability) == (1, None), "rows drawn at random count alike"

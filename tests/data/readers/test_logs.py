"""Logs of evaluation harnesses: what is read of each format, and what is refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from benchmarks.fuzz.logs import GENERATIONS, INSPECT, LOGS, OPTIONS, attack, write_log
from tests.cli.conftest import run as run

import ssme
from ssme.data.readers.logs import FORMATS
from ssme.errors import InputError, SsmeWarning


def read(folder: Path, name: str, content: Any = None) -> pd.DataFrame:
    return ssme.read_logs(write_log(folder, name, LOGS[name] if content is None else content))


def test_each_format_has_a_log_here_that_it_alone_recognizes(tmp_path: Path) -> None:
    found = []
    for content in LOGS.values():
        fitting = []
        for each in FORMATS:
            try:
                fitting += [each.title] if each.matches(content) else []
            except (LookupError, TypeError, AttributeError):
                continue
        assert len(fitting) == 1
        found += fitting
    assert set(found) == {each.title for each in FORMATS}


def test_grades_of_inspect_are_numbers_and_epochs_rows(tmp_path: Path) -> None:
    frame = read(tmp_path, "inspect.json")
    assert list(frame) == [
        *("id", "system", "item", "epoch", "input", "output", "target"),
        *("judge_match", "judge_grader_a", "judge_grader_b", "topic"),
    ]
    assert frame["id"].tolist()[:2] == ["a/b/0/1", "a/b/1/1"]
    assert frame["judge_match"].tolist() == [1, 0, 0.5, 0] * 2
    assert frame["epoch"].tolist() == [1] * 4 + [2] * 4
    assert frame["input"].tolist()[:2] == ["0?", "1?"]


def test_a_judge_with_other_words_keeps_them(tmp_path: Path) -> None:
    content = copy.deepcopy(INSPECT)
    content["samples"][0]["scores"]["match"]["value"] = "perhaps"
    assert read(tmp_path, "x.json", content)["judge_match"].tolist()[:2] == ["perhaps", "I"]


def test_a_sample_that_ended_with_an_error_has_no_grade(tmp_path: Path) -> None:
    content = copy.deepcopy(INSPECT)
    del content["samples"][1]["scores"], content["samples"][1]["output"]
    frame = read(tmp_path, "x.json", content)
    assert frame["judge_match"].isna().tolist() == [False, True] + [False] * 6


def test_a_run_that_ended_with_an_error_is_told(tmp_path: Path) -> None:
    with pytest.warns(SsmeWarning, match="'error', after 8 samples"):
        read(tmp_path, "inspect.json", INSPECT | {"status": "error"})


def test_log_likelihoods_become_class_scores_and_folders_models(tmp_path: Path) -> None:
    (name,) = (name for name, content in LOGS.items() if content is OPTIONS)
    worse = copy.deepcopy(OPTIONS)
    for line in worse:
        line["filtered_resps"].reverse()
        line["target"] = f" {int(line['target'])}"  # the text of the option
    for folder, content in (("org__good", OPTIONS), ("bad", worse)):
        (tmp_path / folder).mkdir()
        write_log(tmp_path / folder, name, content)
    frame = ssme.read_logs(tmp_path)
    logs = np.array([0, -0.5, -1.0])
    expected = np.exp(logs) / np.exp(logs).sum()
    columns = [f"org/good:{k}" for k in range(3)]
    np.testing.assert_allclose(frame[columns].to_numpy(), np.tile(expected, (5, 1)))
    data = ssme.ScoreSet.from_frame(frame)
    assert (data.models, data.n_classes, data.n_labeled) == (("bad", "org/good"), 3, 5)
    np.testing.assert_allclose(data.scores[:, 0], data.scores[:, 1, ::-1])


def test_each_filter_of_a_generation_is_a_judge(tmp_path: Path) -> None:
    (name,) = (name for name, content in LOGS.items() if content is GENERATIONS)
    frame = read(tmp_path, name)
    judges = ["judge_exact_match strict", "judge_exact_match flexible"]
    assert frame[judges].to_numpy().tolist() == [[0, 0], [1, 1], [1, 1]]


def test_promptfoo_counts_repeats_as_tests_and_prompts_over_all_providers(tmp_path: Path) -> None:
    results = [
        {
            "provider": {"id": provider},
            "promptIdx": 2 * at + prompt,
            "testIdx": 2 * item + repeat,
            "vars": {"question": f"q{item}"},
            "success": True,
        }
        for repeat in range(2)
        for item in range(3)
        for at, (provider, prompts) in enumerate((("one", 1), ("two", 2)))
        for prompt in range(prompts)
    ]
    frame = read(tmp_path, "promptfoo.json", {"results": {"version": 3, "results": results}})
    assert set(frame["system"]) == {"one", "two, prompt 1", "two, prompt 2"}
    assert frame.groupby("system")["item"].nunique().tolist() == [3, 3, 3]
    assert sorted(frame["epoch"]) == [1] * 9 + [2] * 9
    lines = tmp_path / "results.jsonl"
    lines.write_text("".join(json.dumps(result) + "\n" for result in results))
    pd.testing.assert_frame_equal(ssme.read_logs(lines), frame)


@pytest.mark.parametrize(
    ("name", "system", "grades"),
    [
        ("promptfoo.json", "openai:x", {"judge_passed": [0, 0, 1, 1], "judge_tone": [0.5] * 4}),
        ("deepeval.json", "bot", {"judge_Short": [0, 1, 1]}),
        ("openai.jsonl", "gpt-x", {"judge_match": [0, 1], "judge_choice": ["A", "A"]}),
        ("ragas.jsonl", "ragas", {"judge_exact_match": [0, 1, 1]}),
        ("traces.jsonl", "bot", {"judge_relevant": [1, 1, 1], "human_good": [0, 1, 1]}),
    ],
)
def test_grades_of_other_tools(
    tmp_path: Path, name: str, system: str, grades: dict[str, list[Any]]
) -> None:
    frame = read(tmp_path, name)
    assert frame["system"].iloc[0] == system
    assert {judge: frame[judge].tolist() for judge in grades} == grades
    assert frame["id"].is_unique


def test_two_assertions_of_one_type_are_two_judges(tmp_path: Path) -> None:
    frame = read(tmp_path, "promptfoo.json")
    assert frame["judge_contains"].tolist() == [1] * 4
    assert frame["judge_contains 2"].tolist() == [0] * 4


def test_several_tasks_have_items_of_their_own(tmp_path: Path) -> None:
    other = copy.deepcopy(INSPECT)
    other["eval"]["task"] = "words"
    paths = [write_log(tmp_path, f"{i}.json", each) for i, each in enumerate((INSPECT, other))]
    frame = ssme.read_logs(paths)
    assert len(frame) == 16
    assert frame["item"].tolist()[0] == "sums/0"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["samples"][2].pop("epoch"), "sample 3 of .* 'epoch' is missing"),
        (lambda c: c["samples"][1].update(id=None), "sample 2 of .*: its item is None"),
        (lambda c: c["samples"].append(c["samples"][0]), "two grades by 'judge_match' of item 0"),
        (lambda c: c.update(samples=[]), "the logs have no samples"),
        (lambda c: c.pop("eval"), "is not a log of a known harness"),
    ],
)
def test_a_log_that_is_not_whole_is_refused(tmp_path: Path, change: Any, said: str) -> None:
    content = copy.deepcopy(INSPECT)
    change(content)
    with pytest.raises(InputError, match=said):
        read(tmp_path, "x.json", content)


def test_a_log_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    for name in LOGS:
        path = write_log(tmp_path, name, LOGS[name])
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(InputError, match="not JSON, or is truncated"):
            ssme.read_logs(path)


def test_questions_with_other_numbers_of_options_are_refused(tmp_path: Path) -> None:
    content = copy.deepcopy(OPTIONS)
    content[1]["filtered_resps"].pop()
    with pytest.raises(InputError, match="2 to 3 options"):
        read(tmp_path, "samples_x.jsonl", content)
    both = [write_log(tmp_path, "a.jsonl", OPTIONS), write_log(tmp_path, "b.json", INSPECT)]
    with pytest.raises(InputError, match="others have grades of answers"):
        ssme.read_logs(both)


def test_other_files_in_a_folder_are_left_out_with_a_warning(tmp_path: Path) -> None:
    write_log(tmp_path, "inspect.json", INSPECT)
    (tmp_path / "results.json").write_text(json.dumps({"results": {}}))
    with pytest.warns(SsmeWarning, match=r"'results.json' left out"):
        assert len(ssme.read_logs(tmp_path)) == 8


@pytest.mark.parametrize("given", [3, pd.DataFrame({"a": [1]}), "nowhere"])
def test_what_is_no_log_is_refused(given: Any) -> None:
    with pytest.raises(InputError):
        ssme.read_logs(given)


def test_a_frame_of_samples_needs_its_models() -> None:
    frame = pd.DataFrame({"id": ["1"], "epoch": [1], "score_match": ["C"], "metadata_topic": "x"})
    with pytest.raises(InputError, match="no column 'model'"):
        ssme.read_logs(frame)
    read = ssme.read_logs(frame.assign(model="a", score_grader='{"b": 0.5}'))
    assert read.iloc[0].to_dict() == {
        **{"id": "a/1/1", "system": "a", "item": "1", "epoch": 1},
        **{"judge_match": 1, "judge_grader_b": 0.5, "topic": "x"},
    }


def test_changed_logs_are_read_or_refused() -> None:
    counts, uncaught = attack(300, seed=1)
    assert uncaught == []
    for end in ("read", "refused"):
        assert sum(number for (_, how), number in counts.items() if how == end) > 50


def test_the_command_writes_the_table_and_prints_mean_grades(tmp_path: Path, run: Any) -> None:
    write_log(tmp_path, "inspect.json", INSPECT)
    result = run("convert", tmp_path / "inspect.json", "--csv", tmp_path / "evals.csv")
    assert result.exit_code == 0
    assert "judge_match" in result.stdout
    assert "0.375" in result.stdout
    written = pd.read_csv(tmp_path / "evals.csv")
    expected = read(tmp_path, "inspect.json")
    pd.testing.assert_frame_equal(written.astype(str), expected.astype(str))
    again = run("convert", tmp_path / "inspect.json", "--csv", tmp_path / "inspect.json", "-f")
    assert again.exit_code == 2
    assert run("convert").exit_code == 2


def test_any_arrow_stream_is_a_frame() -> None:
    table = pa.table({"a": [0.1, 0.9, 0.4], "b": [0.2, 0.8, 0.3], "label": [0, 1, None]})

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return table.__arrow_c_stream__(requested_schema)

    expected = ssme.ScoreSet.from_frame(table)
    data = ssme.ScoreSet.from_frame(Stream())
    np.testing.assert_array_equal(data.scores, expected.scores)
    np.testing.assert_array_equal(data.labels, expected.labels)
    assert data.models == ("a", "b")

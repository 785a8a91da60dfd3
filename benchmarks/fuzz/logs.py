"""Logs of evaluation harnesses with parts deleted, replaced, repeated or cut off.

    python -m benchmarks.fuzz.logs --cases 10000

Every log is read, or refused by an `InputError`. Anything else is uncaught, and the command fails.
Writes ``fuzz_logs.csv``.
"""

from __future__ import annotations

import copy
import json
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiment import RESULTS, read_arguments, write_table
from ssme.data.readers.logs import read_logs
from ssme.errors import InputError

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1e308,
    "",
    "C",
    "ä\x00",
    [],
    {},
    [[]],
    {"value": {}},
    [1, "x"],
)

INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"model": "a/b", "task": "sums"},
    "plan": {},
    "samples": [
        {
            "id": i,
            "epoch": epoch,
            "input": [{"role": "user", "content": f"{i}?"}] if i else "0?",
            "target": [str(i)],
            "output": {"completion": str(i)},
            "metadata": {"topic": "sum", "parts": [1]},
            "scores": {"match": {"value": "CIPN"[i]}, "grader": {"value": {"a": 0.5, "b": i}}},
        }
        for epoch in (1, 2)
        for i in range(4)
    ],
}
OPTIONS = [
    {
        "doc_id": i,
        "target": str(i % 3),
        "arguments": {f"gen_args_{k}": {"arg_0": "q", "arg_1": f" {k}"} for k in range(3)},
        "filtered_resps": [[str(-0.5 * k - i), "False"] for k in range(3)],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    }
    for i in range(5)
]
GENERATIONS = [
    {
        "doc_id": i,
        "target": "x",
        "arguments": [["q", {"until": ["."]}]],
        "filtered_resps": ["x" if i else "y"],
        "filter": kept,
        "exact_match": float(i > 0),
    }
    for kept in ("strict", "flexible")
    for i in range(3)
]
PROMPTFOO = {
    "results": {
        "version": 3,
        "results": [
            {
                "provider": {"id": "openai:x", "label": label},
                "prompt": {"raw": f"q{item}"},
                "promptIdx": 0,
                "testIdx": item,
                "vars": {"topic": "sum", "number": item},
                "success": item > 0,
                "namedScores": {"tone": 0.5},
                "gradingResult": {
                    "componentResults": [
                        {"pass": True, "assertion": {"type": "contains"}},
                        {"pass": False, "assertion": {"type": "contains"}},
                    ]
                },
                "response": {"output": "out"},
            }
            for label in ("", "big")
            for item in range(2)
        ],
    }
}
DEEPEVAL = {
    "testRunData": {
        "identifier": "bot",
        "testCases": [
            {
                "name": f"case_{i}",
                "input": "q",
                "actualOutput": "a",
                "expectedOutput": "b",
                "metricsData": [{"name": "Short", "success": i > 0, "score": 0.2}],
            }
            for i in range(3)
        ],
    }
}
OPENAI = [
    {"spec": {"completion_fns": ["gpt-x"], "eval_name": "sums"}},
    *(
        {"sample_id": f"sums.{i}", "type": kind, "data": data}
        for i in range(2)
        for kind, data in (
            ("sampling", {"prompt": [{"role": "user", "content": "q"}], "sampled": ["a"]}),
            ("match", {"correct": i > 0, "expected": "a", "sampled": "a"}),
            ("metrics", {"score": 0.5, "choice": "A"}),
        )
    ),
    {"final_report": {"accuracy": 0.5}},
]
TRACES = [
    {
        "info": {
            "trace_id": f"tr-{i}",
            "request_preview": "q",
            "response_preview": "a",
            "tags": {"mlflow.traceName": "bot"},
            "assessments": [
                {
                    "assessment_name": "relevant",
                    "source": {"source_type": "LLM_JUDGE"},
                    "feedback": {"value": "yes"},
                },
                {
                    "assessment_name": "good",
                    "source": {"source_type": "HUMAN"},
                    "feedback": {"value": i > 0},
                },
                {"assessment_name": "answer", "expectation": {"value": "a"}},
            ],
        },
        "data": {"spans": []},
    }
    for i in range(3)
]
RAGAS = [
    {
        "user_input": f"q{i}" if i else [{"role": "user", "content": "q0"}],
        "retrieved_contexts": ["c"],
        "response": "yes",
        "reference": "yes" if i else "no",
        "exact_match": float(i > 0),
        "faithfulness": 0.5,
    }
    for i in range(3)
]
LOGS: dict[str, Any] = {
    "inspect.json": INSPECT,
    "samples_options_2026-01-01T00-00-00.jsonl": OPTIONS,
    "samples_generations_2026-01-01T00-00-00.jsonl": GENERATIONS,
    "promptfoo.json": PROMPTFOO,
    "deepeval.json": DEEPEVAL,
    "openai.jsonl": OPENAI,
    "traces.jsonl": TRACES,
    "ragas.jsonl": RAGAS,
}
"""A small log of each format, as its tool documents or writes it."""


def write_log(folder: Path, name: str, content: Any) -> Path:
    """Write a log: JSON, or a line for each part of a list."""
    path = folder / name
    lines = content if isinstance(content, list) and name.endswith("l") else [content]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return path


def mutate(content: Any, rng: np.random.Generator) -> Any:
    """A copy of a log with one to three places deleted, replaced or repeated."""
    content = copy.deepcopy(content)
    for _ in range(int(rng.integers(1, 4))):
        places = [*_list_places(content)]
        if not places:
            break
        parent, key = places[int(rng.integers(len(places)))]
        action = rng.choice(["delete", "replace", "repeat"])
        if action == "delete":
            del parent[key]
        elif action == "replace" or isinstance(parent, dict):
            parent[key] = copy.deepcopy(ODD[int(rng.integers(len(ODD)))])
        else:
            parent.insert(key, copy.deepcopy(parent[key]))
    return content


def _list_places(content: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) in a tree of lists and dicts."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in [*pairs]:
        yield content, key
        if isinstance(value, dict | list):
            yield from _list_places(value)


def attack(cases: int, seed: int) -> tuple[Counter[tuple[str, str]], list[str]]:
    """How cases of each log ended, and those that ended in no table and no `InputError`."""
    counts, uncaught = Counter[tuple[str, str]](), []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in range(cases):
            rng = np.random.default_rng([seed, case])
            name = list(LOGS)[case % len(LOGS)]
            path = write_log(Path(folder), name, mutate(LOGS[name], rng))
            if rng.random() < 0.1:
                content = path.read_bytes()
                path.write_bytes(content[: int(rng.integers(len(content)))])
            try:
                read_logs(path)
                counts[name, "read"] += 1
            except InputError:
                counts[name, "refused"] += 1
            except Exception as error:
                counts[name, "uncaught"] += 1
                uncaught.append(f"case {case}, {name}: {error!r}")
    return counts, uncaught


def main() -> int:
    asked = read_arguments(__doc__, cases=10_000, seed=0)
    counts, uncaught = attack(asked.cases, asked.seed)
    ends = ("read", "refused", "uncaught")
    rows = [{"log": name, **{end: counts[name, end] for end in ends}} for name in LOGS]
    write_table(RESULTS / "fuzz_logs.csv", [{**row, "seed": asked.seed} for row in rows])
    print(", ".join(f"{end}: {sum(row[end] for row in rows):,}" for end in ends))
    print(*uncaught[:20], sep="\n")
    return 1 if uncaught else 0


if __name__ == "__main__":
    raise SystemExit(main())

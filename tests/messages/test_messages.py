"""Snapshots of what users read when something is refused or warned of.

A module beside this one (``data.py``) has ``CASES``, from a name to a function that has to raise
`InputError` or to warn; it may take a folder for its files. The messages are in ``data.txt``, in
the order of the names. After a change of wording::

    pytest tests/messages --update-messages

writes the snapshots; read their diff as a user would.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOMS = sorted(path.stem for path in HERE.glob("[a-z]*.py") if path.stem != "test_messages")


def read_message(case: Callable[..., object], folder: Path) -> str:
    """The error or the warnings of ``case``, one per line, without the name of its folder."""
    arguments = [folder] if inspect.signature(case).parameters else []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            case(*arguments)
        except Exception as error:
            messages = [f"{type(error).__name__}: {error}"]
        else:
            messages = [f"{each.category.__name__}: {each.message}" for each in caught]
    return "\n".join(messages).replace(str(folder), "FOLDER")


@pytest.mark.parametrize("room", ROOMS)
def test_messages(room: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    cases = importlib.import_module(f"tests.messages.{room}").CASES
    found = {}
    for number, name in enumerate(sorted(cases)):
        folder = tmp_path / str(number)
        folder.mkdir()
        found[name] = read_message(cases[name], folder)
        assert found[name], f"{name}: nothing was raised and nothing was warned of"
        assert found[name].startswith(("InputError", "UnsupportedError", "Missing", "Ssme")) or (
            "Warning: " in found[name]
        ), f"{name} ended in {found[name]}"
    snapshot = HERE / f"{room}.txt"
    text = "".join(f"[{name}]\n{message}\n\n" for name, message in found.items())
    if request.config.getoption("update_messages"):
        snapshot.write_text(text, encoding="utf-8")
    assert text == snapshot.read_text(encoding="utf-8")

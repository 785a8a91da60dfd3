"""The form "What is in the file" and the options of reading and running that it stands for.

Each column plays one part. Only what differs from what is recognized by itself is said, so that the
config stays as short as a person would write it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ssme.config import read_typed

__all__ = ["PARTS", "Form", "parse_mapping"]

Form = Mapping[str, Sequence[str]]

PARTS = {
    "score": "scores of a model",
    "label": "label",
    "id": "name of the row",
    "group": "group",
    "weight": "weight",
    "shown": "shown to annotators",
    "out": "left out",
}
"""Parts that a column can play, in the words of the page."""


def parse_mapping(
    form: Form, columns: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The sections ``read`` and ``run`` of a config, and the columns that annotators see.

    Parameters
    ----------
    form : mapping
        Field -> values, as the browser sent them; ``part-3`` is the part of the fourth column.
    columns : sequence of mappings
        The columns that were found, with the part (``role``) that each was found to play.

    Examples
    --------
    >>> columns = [{"name": "y", "role": "out"}, {"name": "bert", "role": "score"}]
    >>> parse_mapping({"part-0": ["label"], "part-1": ["score"], "classes": ["ham, spam"]}, columns)
    ({'label': 'y', 'classes': ['ham', 'spam']}, {}, [])
    """
    parts = {
        column["name"]: _take_one(form, f"part-{number}") or column["role"]
        for number, column in enumerate(columns)
    }
    found = {part: [name for name, of in parts.items() if of == part] for part in PARTS}
    before = [column["name"] for column in columns if column["role"] == "score"]
    read: dict[str, Any] = {}
    for part in ("label", "id", "weight"):
        if found[part]:
            read[part] = found[part][0] if len(found[part]) == 1 else found[part]
    if columns and not found["label"]:
        read["no_labels"] = True
    if found["group"]:
        read["group"] = found["group"]
    if found["score"] and (found["score"] != before or _take_one(form, "models_named")):
        read["models"] = found["score"]
    for name in ("classes", "unlabeled"):
        values = [
            read_typed(text.strip()) for text in _take_one(form, name).split(",") if text.strip()
        ]
        if values:
            read[name] = values
    for name in ("positive", "pattern", "layout", "delimiter"):
        text = _take_one(form, name)
        if text:
            read[name] = read_typed(text.strip()) if name == "positive" else text
    for name in ("logits", "normalize"):
        if _take_one(form, name):
            read[name] = True
    return read, _run(form), found["shown"]


def _run(form: Form) -> dict[str, Any]:
    run: dict[str, Any] = {}
    if form.get("metric"):
        run["metric"] = list(form["metric"])
    if _take_one(form, "method") not in ("", "auto"):
        run["method"] = _take_one(form, "method")
    level = read_typed(_take_one(form, "level").replace("%", "").strip() or "95")
    if level != 95:
        run["level"] = level / 100 if isinstance(level, int | float) else level
    return run


def _take_one(form: Form, name: str) -> str:
    values = form.get(name) or [""]
    return values[0]

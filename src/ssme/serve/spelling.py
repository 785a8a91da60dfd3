"""Errors in the words of the page: arguments of Python become the fields that a person sees."""

from __future__ import annotations

import ast
import errno
from pathlib import Path
from typing import Any

from ssme.errors import InputError
from ssme.wording import make_printable

__all__ = ["PARTS", "TITLES", "VALUES", "WORDS", "spell_for_page"]

PARTS = {
    "models": "scores of a model",
    "label": "label",
    "id": "id of the row",
    "groups": "group",
    "weight": "weight",
    "design": "weight of the label",
    "answers": "answers of a judge",
    "ratings": "ratings of a judge",
    "model": "model, in one row per score",
    "class_": "class, in one row per score",
    "score": "score, in one row per score",
    "shown": "shown to annotators",
    "out": "not used",
}
"""Parts that a column can have."""
TITLES = {
    "delimiter": "Delimiter",
    "decimal": "Decimal separator",
    "thousands": "Thousands separator",
    "encoding": "Text encoding",
    "sheet": "Sheet",
    "classes": "Classes",
    "positive": "Positive class",
    "unlabeled": "Codes for a missing label",
    "pattern": "Pattern of column names",
    "layout": "Layout",
    "design": "How labeled rows were chosen",
    "unsure": "Codes for unsure",
    "grades": "Grades",
    "cut": "Lowest positive grade",
    "logits": "Scores are logits",
    "normalize": "Rescale class scores to sum to one",
    "metrics": "Metrics",
    "method": "Method",
    "level": "Coverage of intervals, in %",
}
"""Fields of the form."""
VALUES = {
    "wide": "one row per example",
    "long": "one row per score",
    "random": "at random",
    "by_class": "by class",
    "by_score": "by score",
}
"""Values of fields in words."""
WORDS = {name: f"the part “{words}”" for name, words in PARTS.items()}
WORDS |= {"labels": WORDS["label"], "y": WORDS["label"], "by": WORDS["groups"]}
WORDS |= {name: f"the field “{title}”" for name, title in TITLES.items()}
"""Arguments of Python in the words of the page."""


PHRASES = {
    ("label", "'...'"): "which column is the label",
    ("labels", "False"): "press “Use this” as it is",
    ("labels", None): "a file of labels",
}
"""Arguments with a value that the page says in another way."""


def spell_for_page(error: Exception, path: str = "") -> dict[str, Any]:
    """An error in the words of the page, and the fields that it speaks of.

    Parameters
    ----------
    error : Exception
        One of ours, or what the system says of a file or a disk.
    path : str
        The file that was read, of which a person knows the name alone.

    Examples
    --------
    >>> import errno
    >>> spell_for_page(OSError(errno.ENOSPC, "No space left on device", "/home/ada/x"))["got"]
    'The disk is full.'
    """
    fields: list[str] = []
    if isinstance(error, OSError):
        error = _blame_disk(error)
    elif not isinstance(error, InputError):
        return {"got": make_printable(str(error)), "allowed": "", "fix": "", "fields": []}

    def spell(name: str, value: str | None) -> str | None:
        words = WORDS.get(name)
        if words is None:
            return None
        fields.append(name)
        if (name, value) in PHRASES:
            return PHRASES[name, value]
        if value in (None, "'...'", "[...]"):
            return words
        return f"{words} = {_spell_list(value) if value.startswith('[') else value}"

    said, *more = error.list_sentences(spell)
    parts = {
        "got": said[:1].upper() + said[1:] if said.split(" ", 1)[0].isalpha() else said,
        "allowed": "",
        "fix": " ".join(more),
    }
    if path:
        parts = {part: text.replace(path, Path(path).name) for part, text in parts.items()}
    return {**parts, "fields": list(dict.fromkeys(fields))}


def _spell_list(value: str) -> str:
    """A list as it is typed into a field: ``['ham', 'spam']`` as “ham, spam”."""
    try:
        items = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return f"“{', '.join(map(str, items))}”"


def _blame_disk(error: OSError) -> InputError:
    """What the system says of a file, without the folders that lead to it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InputError(
            "the disk is full.",
            hint="make room and do it again; nothing that was stored before is lost",
        )
    name = f" ({Path(str(error.filename)).name})" if error.filename else ""
    said = f"{error.strerror or error}{name}"
    return InputError(f"a file could not be read or written: {said}", hint="try it again")

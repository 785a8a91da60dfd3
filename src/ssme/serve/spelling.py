"""Errors in the words of the page: arguments of Python become the fields that a person sees."""

from __future__ import annotations

from typing import Any

from ssme.errors import InputError

__all__ = ["WORDS", "spell_for_page"]

WORDS = {
    "label": "the part “label”",
    "labels": "the part “label”",
    "y": "the part “label”",
    "models": "the part “scores of a model”",
    "groups": "the part “group”",
    "id": "the part “name of the row”",
    "weight": "the part “weight”",
    "classes": "the field “Classes”",
    "positive": "the field “Positive class”",
    "unlabeled": "the field “Codes for no label”",
    "delimiter": "the field “Character between cells”",
    "pattern": "the field “Names of columns”",
    "layout": "the field “Layout”",
    "logits": "the box “Scores are logits”",
    "normalize": "the box “Rescale class scores”",
    "by": "the part “group”",
    "metrics": "the boxes “Metrics”",
    "method": "the field “Method”",
    "level": "the field “Coverage of intervals”",
}
"""Arguments of Python in the words of the page."""


PHRASES = {
    ("label", "'...'"): "which column is the label",
    ("labels", "False"): "that no column is",
    ("labels", None): "a file of labels",
}
"""Arguments with a value that the page says in another way."""


def spell_for_page(error: InputError) -> dict[str, Any]:
    """An error in the words of the page, and the fields that it speaks of."""
    fields: list[str] = []

    def spell(name: str, value: str | None) -> str:
        fields.append(name)
        if (name, value) in PHRASES:
            return PHRASES[name, value]
        words = WORDS.get(name, name)
        return words if value in (None, "'...'", "[...]") else f"{words} = {value}"

    said = InputError(error.got).spell(spell)
    parts = {
        "got": said[:1].upper() + said[1:] if said.split(" ", 1)[0].isalpha() else said,
        "allowed": InputError(error.allowed).spell(spell) if error.allowed else "",
        "fix": InputError(error.fix).spell(spell) if error.fix else "",
    }
    return {**parts, "fields": list(dict.fromkeys(fields))}

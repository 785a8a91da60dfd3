"""The page of a registered method says what it does, what it assumes and where it fails.

This is what the method declares. The many constants of a method are left out of its signature.
"""

from __future__ import annotations

import re
from typing import Any

from ssme.methods.registry import find_method_class, method_names


def declare(app: Any, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Put the declaration of a method below the first paragraph of its docstring."""
    if what == "class" and found in map(find_method_class, method_names()):
        end = lines.index("") if "" in lines else len(lines)
        lines[end:end] = ["", " ".join((found.spec.does, found.spec.assumes, found.spec.fails)), ""]


def shorten(
    app: Any, what: str, name: str, found: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str, Any] | None:
    """Leave the values of constants out of the signature of a class."""
    if what != "class" or not signature:
        return None
    return re.sub(r"constants=\w+\(.*\)(?=\)$)", "constants=...", signature), returns


def setup(app: Any) -> dict[str, bool]:
    """Add to docstrings, shorten signatures."""
    app.connect("autodoc-process-docstring", declare)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

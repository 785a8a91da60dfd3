"""``.. registered-methods::`` documents the class of every registered method, in their order.

Below the options is what the method declares about itself: what it does, what it assumes and
where it fails. The many constants of a method are left out of its signature.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.util.docutils import SphinxDirective

from ssme.methods.registry import find_method_class, method_names


class RegisteredMethods(SphinxDirective):
    """One ``autoclass`` per method."""

    def run(self) -> list[Any]:
        return self.parse_text_to_nodes("\n\n".join(describe(name) for name in method_names()))


def describe(name: str) -> str:
    """The directive for one method, with what it declares as its content."""
    cls = find_method_class(name)
    words = " ".join((cls.spec.does, cls.spec.assumes, cls.spec.fails))
    return f".. autoclass:: ssme.{cls.__name__}\n\n   {words}"


def shorten(
    app: Any, what: str, name: str, found: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str, Any] | None:
    """Leave the values of constants out of the signature of a class."""
    if what != "class" or not signature:
        return None
    return re.sub(r"constants=\w+\(.*\)(?=\)$)", "constants=...", signature), returns


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("registered-methods", RegisteredMethods)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

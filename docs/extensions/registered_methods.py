"""``.. registered-methods::`` documents the class of every registered method, in their order."""

from __future__ import annotations

from typing import Any

from sphinx.util.docutils import SphinxDirective

from ssme.methods.registry import find_method_class, method_names


class RegisteredMethods(SphinxDirective):
    """One ``autoclass`` per method."""

    def run(self) -> list[Any]:
        classes = [find_method_class(name).__name__ for name in method_names()]
        return self.parse_text_to_nodes("\n\n".join(f".. autoclass:: ssme.{c}" for c in classes))


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("registered-methods", RegisteredMethods)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

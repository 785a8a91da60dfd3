"""Pages from templates, in which nothing from the data is ever markup.

Names are escaped by jinja2's autoescape, their control characters made visible, and isolated with
``<bdi>`` in the templates, so right-to-left text does not turn the numbers beside it around.
"""

from __future__ import annotations

import re
from typing import Any

from ssme.wording import make_printable, shorten

__all__ = ["format_percent", "make_environment"]

SEPARATORS = re.compile(r"(?<=[_\-./=:,;|+@&])(?=\w)")
SHORT = 60
"""Characters of a name shown; the whole name is in its title."""


def make_environment(loader: Any = None) -> Any:
    """A jinja2 environment in which nothing from the data is ever markup.

    Parameters
    ----------
    loader : jinja2 loader, optional
        Where templates are found by name.

    Examples
    --------
    >>> make_environment().from_string("{{ name }}").render(name="<b>\\x1b")
    '&lt;b&gt;\\\\x1b'
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_show,
    )
    environment.filters["number"] = lambda value: "-" if value is None else f"{value:.3f}"
    environment.filters["percent"] = format_percent
    environment.filters["breakable"] = _make_breakable
    environment.filters["short"] = lambda name, most=SHORT: shorten(name, most)
    return environment


def format_percent(value: float | None) -> str:
    """A probability from a few hundred draws: never quite 0 or 1."""
    if value is None:
        return "-"
    return "> 99 %" if value > 0.99 else "< 1 %" if value < 0.01 else f"{value * 100:.0f} %"


def _make_breakable(name: str) -> Any:
    """A name that may be broken after ``_``, ``-`` and the like, not in the middle of a word."""
    from markupsafe import Markup, escape

    pieces = SEPARATORS.split(make_printable(name))
    return Markup("<wbr>").join(escape(piece) for piece in pieces if piece)


def _show(value: Any) -> Any:
    """Text with its control characters escaped, so that a reader sees that they are there."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return make_printable(value)
    return value

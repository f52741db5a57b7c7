"""Reports for people: the one Jinja environment that their templates share, and tables in Markdown."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jinja2

from hopwright.foreign import drop_controls

NOTHING = "–"
Format = str | Callable[[Any], str]
"""A format specification such as `.1%`, or what writes a value."""


class Markdown(str):
    """A text that is Markdown already and stays as it is."""

    __slots__ = ()


@functools.cache
def load_template(package: str, name: str, folder: str = "templates") -> jinja2.Template:
    """A template that lies in `folder` of a package; an undefined name in it is an error.

    HTML and SVG are escaped. In Markdown, texts that are not our own go through the filter `md`, or stand in a table.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, folder),
        autoescape=jinja2.select_autoescape(("html.j2", "svg.j2"), default=False),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=name.endswith(".md.j2"),
    )
    environment.filters |= {
        "md": escape, "percent": percent, "number": show_number, "table": show_table, "plural": show_count,
        "bound": show_bound,
    }  # fmt: skip
    return environment.get_template(name)


def show_table(rows: Sequence[Mapping[str, Any]], formats: Mapping[str, Format] | None = None) -> str:
    """Rows by column as a table in Markdown; what a row lacks is a dash. No rows, no table.

    Whole numbers are grouped by thousands, fractions shown as per cent, and texts escaped unless they are `Markdown`.
    `formats` says by column what is written otherwise. Numbers stand at the right of their column.
    """
    import pandas as pd  # takes half a second

    if not rows:
        return ""
    frame = pd.DataFrame(rows, dtype=object)
    formats = formats or {}
    head = [escape(str(name)) for name in frame.columns]
    rule = ["---:" if _holds_numbers(frame[name]) else "---" for name in frame.columns]
    shown = [[_show_cell(value, formats.get(str(name))) for value in frame[name]] for name in frame.columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *zip(*shown, strict=True)))


def show_number(value: float | None, spec: str = ",") -> str:
    """A number by a format specification; a dash where there is none."""
    return NOTHING if value is None or value != value else format(value, spec)


def show_bound(value: float) -> str:
    """A share in per cent, a count as it is."""
    return f"{value:.1%}" if 0 < value < 1 else f"{value:.0f}"


def show_count(count: int, what: str) -> str:
    """`1 review`, `2 reviews`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def escape(text: str) -> str:
    """A text inside a table's cell or a line of Markdown: no markup, no line break, no control character."""
    line = drop_controls(" ".join(text.split()))
    # An underscore inside a word is none of Markdown's.
    return re.sub(r"([\\`*{}\[\]<>#|~$&]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", line)


def percent(share: float) -> str:
    """A share with one digit after the point; one that is not nothing never reads as nothing."""
    return "< 0.1 %" if 0 < share < 0.0005 else f"{share * 100:.1f} %"


def _show_cell(value: Any, form: Format | None) -> str:
    if isinstance(value, str):
        return value if isinstance(value, Markdown) else escape(value)
    if value is None or value != value:
        return NOTHING
    if callable(form):
        return form(value)
    if form is None and isinstance(value, bool):
        return "yes" if value else "no"
    return percent(value) if form is None and isinstance(value, float) else format(value, form or ",")


def _holds_numbers(column: Any) -> bool:
    given = column.dropna()
    return not given.empty and all(isinstance(value, int | float | Markdown) for value in given)

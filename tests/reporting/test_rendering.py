"""Texts of others in Markdown: one line, no markup, nothing that a terminal obeys."""

from __future__ import annotations

import pytest

from hopwright.foreign import find_control
from hopwright.reporting.rendering import escape, load_template, show_table
from tests.fuzz.hostile import TEXTS


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_no_control_character_gets_into_a_card(number: int) -> None:
    line = escape(TEXTS[number])
    assert not set(line) & {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u202e", "\u2028"}
    line.encode()


def test_a_title_that_clears_the_screen_is_a_title_in_tables_and_templates() -> None:
    title = "Rain\x1b[2J\x9b31m \u202eeniar\x85and\nsnow"
    shown = r"Rain\[2J31m eniar and snow"
    assert escape(title) == shown
    assert shown in show_table([{"title": title, title: "x"}])
    report = load_template("hopwright.reporting", "yield.md.j2")
    assert report.environment.filters["md"](title) == shown
    assert not find_control(escape("Café d’été — “x” 東京"))

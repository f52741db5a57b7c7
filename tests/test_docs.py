"""The pages keep their word: links lead somewhere, verbs, options and make targets exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from flows.cli import app
from hopwright.checks import CHECKS
from hopwright.llm.prices import read_prices
from hopwright.llm.types import TokenUsage
from hopwright.reporting.run_summary import summary_lines
from tests.flows.test_summary import make_summary

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("*.md", "docs/*.md", "docs/architecture/*.md", "data/*.md", "bench/*.md")
PAGES = sorted(page for pattern in FOLDERS for page in ROOT.glob(pattern))
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# A command begins a line, or a span of code; it ends with the line, a comment, a pipe or the span.
COMMAND = re.compile(r"(?:^\s*(?:\S+/)?|`(?:\.venv/bin/)?)(hopwright [^\n`#|]*)", re.MULTILINE)
TARGET = re.compile(r"(?:^|`)make ([a-z][a-z-]*)", re.MULTILINE)


def test_there_are_pages() -> None:
    assert {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"} <= {page.name for page in PAGES}
    assert len(PAGES) > 12


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_a_file_or_a_heading(page: Path) -> None:
    broken = [link for link in find_links(page) if not leads_somewhere(page, link)]
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_verbs_and_options_exist(page: Path) -> None:
    wrong = [f"{command}: {problem}" for command in find_commands(page) if (problem := find_problem(command))]
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(TARGET.findall(page.read_text("utf-8"))) <= targets


def test_every_check_stands_on_its_page() -> None:
    page = (ROOT / "docs" / "checks.md").read_text("utf-8")
    assert not [check.name for check in CHECKS if f"| `{check.name}` |" not in page]


def test_example_costs_are_those_of_the_price_list() -> None:
    """The table of docs/api.md, computed from the tokens that the page states."""
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    taken, given = (
        int(re.search(pattern, page)[1].replace(",", ""))  # type: ignore[index]
        for pattern in (r"request of about ([\d,]+) input tokens", r"assumes ([\d,]+) output tokens")
    )
    rows = re.findall(r"^\| `\w+/([^`]+)` \| about (\d+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 2
    for model, dollars, each in rows:
        price = read_prices().find(model)
        assert price is not None
        cost = price.cost(TokenUsage(input=taken, output=given))
        assert round(500 * cost) == int(dollars), (model, 500 * cost)
        assert cost == pytest.approx(float(each), rel=0.05)


def test_the_output_of_a_first_run_has_the_lines_that_a_run_prints() -> None:
    page = (ROOT / "docs" / "first-run.md").read_text("utf-8")
    block = page.partition("ends like this:\n\n```\n")[2].partition("```")[0]
    shown = [line[:24].strip() for line in block.splitlines() if line != "…"]
    printed = [name for name, _ in summary_lines(make_summary())]
    assert shown == [name for name in printed if name in shown]
    assert {"released items", "targets missed", "scorecard"} <= set(shown)


def test_the_finders_find() -> None:
    readme = ROOT / "README.md"
    assert "docs/first-run.md" in find_links(readme)
    assert not leads_somewhere(readme, "docs/no-such-page.md")
    assert {"hopwright doctor"} <= {" ".join(command.split()) for command in find_commands(ROOT / "docs/first-run.md")}
    assert find_problem("hopwright bulid --run x")
    assert find_problem("hopwright build --rnu x")
    assert find_problem("hopwright review pish")
    assert find_problem("hopwright graph info some/store")
    assert find_problem("hopwright build --drafts many")
    assert not find_problem("hopwright review push --url http://127.0.0.1:8080")


def find_links(page: Path) -> list[str]:
    """The relative links of a page, outside of code blocks."""
    text = FENCE.sub("", page.read_text("utf-8"))
    return [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a relative link names a file, and its fragment a heading there."""
    path, _, fragment = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not fragment or fragment in {slug(line) for line in target.read_text("utf-8").splitlines()}


def slug(heading: str) -> str:
    """A heading's anchor, as GitHub makes it."""
    if not heading.startswith("#"):
        return ""
    return re.sub(r"[^\w\- ]", "", heading.lstrip("# ").lower()).replace(" ", "-")


def find_commands(page: Path) -> Iterator[str]:
    """Every `hopwright …` on a page, continued lines joined."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    for command in COMMAND.findall(text):
        yield command.strip()


def find_problem(command: str) -> str:
    """What is wrong with a command's verbs or options; empty when nothing is."""
    words = [word for word in shlex.split(command)[1:] if word != "--help"]
    # A command of click's, or of the copy of click that newer versions of typer carry.
    at: Any = typer.main.get_command(app)
    while hasattr(at, "commands") and words and re.fullmatch(r"[a-z|]+", words[0]):
        names = words.pop(0).split("|")
        unknown = [name for name in names if name not in at.commands]
        if unknown:
            return f"no verb {unknown[0]!r}"
        at = at.commands[names[0]]
    if not words:
        return ""  # Named in running text, without what it takes.
    try:
        at.make_context(at.name, words)
    except Exception as error:  # Of click's or of typer's own copy of it: two hierarchies of errors.
        return str(getattr(error, "message", error))
    return ""

"""`hopwright corpus mcp` as a client of the protocol meets it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")
pytest.importorskip("mcp", reason="the extra mcp is not installed")

from hopwright.environments.tools import TOOLS
from hopwright.knowledge.documents.index import build_index
from hopwright.settings import CorpusIndexParameters
from tests.knowledge.documents.builders import add, write_lines

ROOT = Path(__file__).resolve().parents[2]


async def use(home: Path) -> dict[str, Any]:
    """What a client gets of the server, which ends with it."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": paths}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "flows.cli", "corpus", "mcp", "--corpus", "pages"], env=environment
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        found = await session.call_tool("search", {"query": "capital of Norway"})
        wrong = await session.call_tool("search", {"query": "x", "k": 99})
        read_back = await session.call_tool("read", {"id": "o"})
        return {"tools": (await session.list_tools()).tools, "found": found, "wrong": wrong, "read": read_back}


def test_a_client_lists_the_tools_and_calls_them(tmp_path: Path) -> None:
    folder = tmp_path / "corpora" / "pages"
    page = {"id": "o", "title": "Oslo", "text": "Oslo is the capital of Norway."}
    add(write_lines(tmp_path / "pages.jsonl", [page]), folder)
    build_index(folder, CorpusIndexParameters(workers=1))
    got = asyncio.run(asyncio.wait_for(use(tmp_path), 120))
    assert [(tool.name, tool.input_schema) for tool in got["tools"]] == [(tool.name, tool.parameters) for tool in TOOLS]
    assert "Oslo is the capital of Norway." in got["found"].content[0].text
    assert (got["found"].is_error, got["wrong"].is_error, got["read"].is_error) == (False, True, False)
    assert "at most 10 is wanted" in got["wrong"].content[0].text
    assert got["read"].content[0].text == "[o] Oslo\nOslo is the capital of Norway."

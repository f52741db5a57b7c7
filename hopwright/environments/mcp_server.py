"""The tools over a corpus for any client of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hopwright.environments.tools import TOOLS, PassageFinder, carry_out
from hopwright.errors import InputError
from hopwright.llm.tool_calls import ToolCall

_NAME = "hopwright-corpus"


def require_mcp() -> None:
    """Raises InputError where the extra is not installed."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise InputError("this needs an extra that is not installed: pip install 'hopwright[mcp]'") from None


def serve_stdio(finder: PassageFinder) -> None:
    """Answer a client until it closes standard input. Raises InputError where the extra is not installed."""
    require_mcp()
    asyncio.run(_serve(finder))


async def _serve(finder: PassageFinder) -> None:
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    service = _Service(finder)
    server: Any = Server(_NAME, on_list_tools=service.list_tools, on_call_tool=service.call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class _Service:
    """Lists the tools that an evaluation gives, and carries out their calls in threads."""

    def __init__(self, finder: PassageFinder) -> None:
        self._finder = finder

    async def list_tools(self, _: object, __: object) -> Any:
        """The tools with the schemas of their arguments."""
        import mcp_types

        tools = [
            mcp_types.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.parameters))
            for tool in TOOLS
        ]
        return mcp_types.ListToolsResult(tools=tools)

    async def call_tool(self, _: object, asked: Any) -> Any:
        """The result of a call; one that cannot be carried out is marked as an error and says what is wrong."""
        import mcp_types

        call = ToolCall("", asked.name, json.dumps(asked.arguments or {}))
        result = await asyncio.to_thread(carry_out, call, self._finder)
        text = mcp_types.TextContent(type="text", text=result.text)
        return mcp_types.CallToolResult(content=[text], is_error=bool(result.problem))

"""The tools of the environment as a server of verifiers', one a rollout: it counts the calls that were carried out."""

from hopwright_search.client import Environment
from mcp.types import CallToolResult, TextContent, Tool

import verifiers.v1 as vf


class SearchToolset(vf.Toolset[vf.ToolsetConfig]):
    """Offers what the server offers, under the same names and schemas."""

    TOOL_PREFIX = None

    async def setup(self):
        self.environment = Environment()
        self.task = ""
        self.taken = 0

    async def setup_task(self, task):
        data = getattr(task, "data", task)
        self.task = data.id

    def register(self, mcp):
        mcp.list_tools = self.list_tools
        mcp.call_tool = self.call_tool

    async def list_tools(self):
        specs = self.environment.tools()
        return [
            Tool(name=one["name"], description=one["description"], input_schema=one["parameters"]) for one in specs
        ]

    async def call_tool(self, name, arguments, context=None):
        result = await self.environment.acall(name, arguments or {}, self.task, self.taken)
        self.taken += not result["problem"]
        return CallToolResult(content=[TextContent(type="text", text=result["text"])], is_error=bool(result["problem"]))


if __name__ == "__main__":
    SearchToolset.run()

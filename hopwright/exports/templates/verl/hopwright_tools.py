"""The tools of the environment for verl's tool agent loop; tools.yaml names this class once for each tool."""

from agent_reward import to_wire
from hopwright_client import Environment
from verl.tools.base_tool import BaseTool
from verl.tools.schemas import ToolResponse


class HopwrightTool(BaseTool):
    """Asks the server, and hands the dialogue to the reward function, which has it scored there."""

    def __init__(self, config, tool_schema):
        super().__init__(config, tool_schema)
        self.environment = Environment(config.get("url") or None)
        self._tasks = {}

    async def create(self, instance_id=None, create_kwargs=None, **kwargs):
        instance_id, response = await super().create(instance_id, **kwargs)
        self._tasks[instance_id] = (create_kwargs or {}).get("task", "")
        return instance_id, response

    async def execute(self, instance_id, parameters, agent_data=None, **kwargs):
        fields = agent_data.extra_fields if agent_data is not None else {}
        taken = fields.get("hopwright_taken", 0)
        messages = [to_wire(message) for message in agent_data.messages] if agent_data is not None else []
        task = self._tasks.get(instance_id, "")
        result = await self.environment.acall(self.name, parameters, task, taken, messages)
        fields["hopwright_taken"] = taken + (not result["problem"])
        if agent_data is not None:
            # The list itself: turns that follow are found in it when the rollout is scored.
            fields["hopwright_messages"] = agent_data.messages
        return ToolResponse(text=result["text"]), 0.0, {"malformed": int(bool(result["problem"]))}

    async def release(self, instance_id, **kwargs):
        self._tasks.pop(instance_id, None)

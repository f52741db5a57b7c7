"""A taskset for verifiers: questions over a corpus, the tools that search it, and rewards that know the proven hops."""

import json
from pathlib import Path

from hopwright_search.client import Environment
from hopwright_search.toolset import SearchToolset

import verifiers.v1 as vf

NAMES = ("image_search", "search", "read")
TASKS = Path(__file__).resolve().parent / "tasks.jsonl"


class SearchData(vf.TaskData):
    """A task: its question is the prompt; how it is answered stays with the server."""

    hops: int
    variant: str
    max_steps: int


class SearchTaskConfig(vf.TaskConfig):
    """`reward`: which of the server's rewards is trained on; the others are metrics."""

    reward: str = "hops"
    url: str = ""
    tools: vf.ToolsetConfig = vf.ToolsetConfig()


class SearchTask(vf.Task[SearchData, vf.State, SearchTaskConfig]):
    """Scored by playing the rollout again on the server, which knows where each hop is stated."""

    @property
    def key(self):
        return self.data.id

    @classmethod
    def toolsets(cls, config):
        return [SearchToolset(config.tools)]

    async def _score(self, trace):
        if not hasattr(trace, "_hopwright"):
            messages = [_to_wire(message) for message in trace.branches[-1].messages]
            result = await Environment(self.config.url or None).ascore(self.data.id, messages)
            object.__setattr__(trace, "_hopwright", result)
        return trace._hopwright

    @vf.reward(weight=1.0)
    async def reward(self, trace: vf.Trace) -> float:
        result = await self._score(trace)
        return result["rewards"][self.config.reward]

    @vf.metric
    async def shown(self, trace: vf.Trace) -> dict:
        result = await self._score(trace)
        names = ("right", "steps", "useless", "malformed", "hops_found", "max_depth")
        rewards = {f"reward_{name}": value for name, value in result["rewards"].items()}
        return {name: float(result[name]) for name in names} | rewards


class SearchConfig(vf.TasksetConfig):
    """`split`: train or test; `variant`: factual, counterfactual or empty; `easiest`: part of the curriculum."""

    split: str = "train"
    variant: str = ""
    easiest: float = 1.0
    task: SearchTaskConfig = SearchTaskConfig()


class SearchTaskset(vf.Taskset[SearchTask, SearchConfig]):
    """The tasks of a split, easy ones first."""

    def load(self):
        rows = [json.loads(line) for line in TASKS.read_text(encoding="utf-8").split("\n") if line]
        rows = [row for row in rows if row["split"] == self.config.split]
        rows.sort(key=lambda row: row["order"])
        for row in rows[: max(1, round(len(rows) * self.config.easiest))]:
            if self.config.variant in ("", row["variant"]):
                turns = {turn["role"]: turn["content"] for turn in row["prompts"]["tools"]}
                prompt = self._show(row["pictures"], turns["user"]) if row["pictures"] else turns["user"]
                data = SearchData(
                    id=row["id"],
                    name=row["id"],
                    prompt=prompt,
                    system_prompt=turns["system"],
                    hops=len(row["hops"]),
                    variant=row["variant"],
                    max_steps=row["max_steps"],
                )
                yield SearchTask(data, self.config.task)

    def _show(self, pictures, words):
        """The user's turn with the pictures of the question, which the server has, before its words."""
        environment = Environment(self.config.task.url or None)
        images = [{"type": "image_url", "image_url": {"url": environment.picture(one)}} for one in pictures]
        return [{"role": "user", "content": [*images, {"type": "text", "text": words}]}]


def _to_wire(message):
    """A message of a trace in OpenAI's form."""
    row = message.model_dump(mode="json", exclude_none=True)
    calls = [
        {"id": one["id"], "type": "function", "function": {"name": _strip(one["name"]), "arguments": one["arguments"]}}
        for one in row.get("tool_calls") or []
    ]
    return {"role": row["role"], "content": row.get("content") or "", **({"tool_calls": calls} if calls else {})}


def _strip(name):
    """A tool's own name; harnesses may put the server's before it."""
    return next((one for one in NAMES if f"_{name}".endswith(f"_{one}")), name)

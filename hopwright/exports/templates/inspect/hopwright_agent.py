"""Inspect task with tools: `inspect eval hopwright_agent.py@hopwright_agent -T split=test`.

`hopwright environment serve` has to run; HOPWRIGHT_ENVIRONMENT names its address.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from hopwright_client import Environment  # noqa: E402
from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset, Sample  # noqa: E402
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText  # noqa: E402
from inspect_ai.scorer import Score, mean, scorer, stderr  # noqa: E402
from inspect_ai.solver import generate, use_tools  # noqa: E402
from inspect_ai.tool import ToolDef, ToolParams  # noqa: E402
from inspect_ai.util import store  # noqa: E402

ROWS = [json.loads(line) for line in (FOLDER / "tasks.jsonl").read_text(encoding="utf-8").split("\n") if line]
FIGURES = ("right", "steps", "useless", "malformed", "hops_found", "max_depth")
REWARDS = ("mmhops-r1", "search-r1", "hops")
MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser}


@task
def hopwright_agent(split="test", variant="", url=""):
    """The questions of a split; the model searches the corpus until it answers."""
    environment = Environment(url or None)
    rows = [row for row in ROWS if row["split"] == split and variant in ("", row["variant"])]
    samples = [
        Sample(
            id=row["id"],
            input=[show(environment, turn, row) for turn in row["prompts"]["tools"]],
            target=row["answers"],
            metadata={"task": row["id"], "variant": row["variant"], "hops": len(row["hops"])},
        )
        for row in rows
    ]
    return Task(
        dataset=MemoryDataset(samples, name="hopwright"),
        solver=[use_tools(*(make_tool(environment, spec) for spec in environment.tools())), generate()],
        scorer=hops(environment),
    )


def show(environment, turn, row):
    """A turn of the prompt; before the words of the user's stand the pictures of the question."""
    content = turn["content"]
    if turn["role"] == "user" and row["pictures"]:
        images = [ContentImage(image=environment.picture(media)) for media in row["pictures"]]
        content = [*images, ContentText(text=content)]
    return MESSAGES[turn["role"]](content=content)


def make_tool(environment, spec):
    """One of the server's tools, under its own name and schema."""

    async def execute(**arguments):
        from inspect_ai.solver._task_state import sample_state

        state, kept = sample_state(), store()
        taken = kept.get("hopwright_taken", 0)
        given = {name: value for name, value in arguments.items() if value is not None}
        messages = [to_wire(message) for message in state.messages]
        result = await environment.acall(spec["name"], given, state.metadata["task"], taken, messages)
        kept.set("hopwright_taken", taken + (not result["problem"]))
        return result["text"]

    tool = ToolDef(
        execute,
        name=spec["name"],
        description=spec["description"],
        parameters=ToolParams.model_validate(
            {"properties": spec["parameters"]["properties"], "required": spec["parameters"].get("required", [])}
        ),
    )
    return tool.as_tool()


@scorer(metrics={name: [mean(), stderr()] for name in (*FIGURES, *REWARDS)})
def hops(environment):
    """Every reward by its name, and what the transcript shows of the hops."""

    async def score(state, target):
        messages = [to_wire(message) for message in state.messages]
        result = await environment.ascore(state.metadata["task"], messages)
        values = {name: float(result[name]) for name in FIGURES} | result["rewards"]
        return Score(value=values, answer=result["answer"], explanation=result["ended"])

    return score


def to_wire(message):
    """A message in OpenAI's form."""
    calls = [
        {"id": one.id, "type": "function", "function": {"name": one.function, "arguments": json.dumps(one.arguments)}}
        for one in getattr(message, "tool_calls", None) or []
    ]
    return {"role": message.role, "content": message.text, **({"tool_calls": calls} if calls else {})}

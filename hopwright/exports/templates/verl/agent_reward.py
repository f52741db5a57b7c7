"""verl's custom reward: the rollout is played again on the server, which knows where each hop is stated.

HOPWRIGHT_REWARD names the reward: hops (ours, the default), mmhops-r1 or search-r1.
"""

import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hopwright_client import Environment

CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
ENVIRONMENT = Environment()


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """The reward of one rollout, and the figures that verl logs beside it. `ground_truth` is the task's id."""
    messages = list((extra_info or {}).get("hopwright_messages") or [])
    if not messages:
        # Nothing was called, or nothing that could be: the whole response is one turn.
        messages = [read_turn(solution_str)]
    elif messages[-1]["role"] == "tool":
        # The last turn was cut off before the loop read it.
        messages.append(read_turn(solution_str.rsplit("</tool_response>", 1)[-1]))
    result = ENVIRONMENT.score(ground_truth, [to_wire(message) for message in messages])
    names = ("right", "steps", "useless", "malformed", "hops_found", "max_depth")
    figures = {name: float(result[name]) for name in names}
    return {"score": result["rewards"][os.environ.get("HOPWRIGHT_REWARD", "hops")], **figures, **result["rewards"]}


def read_turn(text):
    """A turn in the notation of Hermes and Qwen; what stands between the tags and is no call is a malformed one."""
    calls = []
    for number, body in enumerate(CALL.findall(text)):
        try:
            call = json.loads(body)
            name, arguments = call["name"], call["arguments"]
        except (ValueError, KeyError, TypeError):
            name, arguments = "unreadable", body
        calls.append({"id": f"call_{number}", "function": {"name": name, "arguments": arguments}})
    content = CALL.sub("", text).removeprefix("assistant").strip()
    return {"role": "assistant", "content": content, "tool_calls": calls}


def to_wire(message):
    """A message of the agent loop in OpenAI's form, with its arguments as text."""
    calls = []
    for number, call in enumerate(message.get("tool_calls") or []):
        arguments = call["function"]["arguments"]
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        calls.append(
            {
                "id": call.get("id") or f"call_{number}",
                "function": {"name": call["function"]["name"], "arguments": text},
            }
        )
    content = message.get("content") or ""
    return {"role": message["role"], "content": content if isinstance(content, str) else "", "tool_calls": calls}

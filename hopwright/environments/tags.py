"""Actions written as tags, for policies without tool calls of their own: MMhops-R1's and Search-R1's notation.

    <think>…</think> <search>a query</search>      what the policy writes; `text_search` is MMhops-R1's name of it
    <read>the id of a passage</read>
    <image_search>1</image_search>                the number of a picture of the question, where it has any
    <answer>the answer</answer>
    <information>…</information>                   what it is shown, which it may not write itself

One turn is one action. A turn without one, or with one that the policy has no right to, is a malformed call: it is
answered by an observation that says so, and costs what a malformed call costs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from hopwright.environments.episode import Episode
from hopwright.environments.tools import IMAGE_SEARCH, READ, SEARCH
from hopwright.llm.tool_calls import ToolCall

NO_ACTION = "no_action"
"""The name of the call that stands for a turn without an action."""
TAGS = {
    "search": SEARCH.name, "text_search": SEARCH.name, "read": READ.name, "image_search": IMAGE_SEARCH.name,
}  # fmt: skip
ARGUMENT = {SEARCH.name: "query", READ.name: "id", IMAGE_SEARCH.name: "image"}
"""The one argument of a tool that a tag gives."""
_OPENING = re.compile(r"<(search|text_search|read|image_search|answer)>")
_SHOWN = re.compile(r"</?information>")
_THOUGHT = re.compile(r"</?think>")


def take_tagged(episode: Episode, said: str) -> list[str]:
    """Take in a turn whose action is written as a tag; as `Episode.take` otherwise.

    The episode's reader of answers has to be `read_tagged_answer`.
    """
    action = _find_action(said)
    if action is None or _SHOWN.search(said):
        return episode.take(_THOUGHT.sub(" ", said), [ToolCall(f"call_{len(episode.messages)}", NO_ACTION, "")], said)
    if action.tag == "answer":
        return episode.take(said[: action.end], [], said)
    words = _THOUGHT.sub(" ", said[: action.start])
    name = TAGS[action.tag]
    arguments = json.dumps({ARGUMENT[name]: action.held.strip()}, ensure_ascii=False)
    return episode.take(words, [ToolCall(f"call_{len(episode.messages)}", name, arguments)], said)


def read_tagged_answer(text: str) -> str | None:
    """What stands between the tags of the answer; None where nothing does."""
    _, opened, rest = text.partition("<answer>")
    held, closed, _ = rest.partition("</answer>")
    return held.strip() or None if opened and closed else None


@dataclass(frozen=True, slots=True)
class _Action:
    """A tag with what it holds; `start` and `end` are its place in the text."""

    tag: str
    held: str
    start: int
    end: int


def _find_action(said: str) -> _Action | None:
    """The first tag that is closed."""
    unclosed: set[str] = set()
    for opening in _OPENING.finditer(said):
        tag = opening[1]
        if tag in unclosed:
            continue
        closing = f"</{tag}>"
        if (place := said.find(closing, opening.end())) >= 0:
            return _Action(tag, said[opening.end() : place], opening.start(), place + len(closing))
        # What nothing closes here, nothing closes later.
        unclosed.add(tag)
    return None

"""Readers that answer as models would whose failings are known, over both wire formats."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from aiohttp import web

from hopwright.knowledge.books.tokens import list_tokens
from hopwright.novels.dataset import BookTexts, NovelSet
from tests.llm.wire_server import WireServer

Reader = Callable[[str, str], str]
"""Takes what is read and the question, and answers."""
_WORD = re.compile(r"[A-Za-z]+")
_NAME = re.compile(r"(?:(?:Mr|Mrs|Dr)\. |(?:Miss|Lady|Sir|Captain|Colonel|Aunt|Inspector) )?[A-Z][a-z]+")


class PerfectWithin:
    """Sees the last `tokens` of what it is given, and answers rightly where the paragraphs of all hops lie there."""

    def __init__(self, found: NovelSet, texts: BookTexts, tokens: int) -> None:
        self._tokens = tokens
        self._known: dict[str, list[tuple[list[str], str]]] = {}
        for item in found.everything:
            shown = [
                texts.show(item.window.book, one.start, one.end) for hop in item.hops for one in hop.paragraphs
            ]
            self._known.setdefault(item.question, []).append((shown, item.answer))

    def __call__(self, context: str, question: str) -> str:
        places = list_tokens(context)
        seen = context[places[-self._tokens][0] :] if len(places) > self._tokens else context
        for paragraphs, answer in self._known[question]:
            if all(one in seen for one in paragraphs):
                return answer
        return "somebody"


def match_keywords(context: str, question: str) -> str:
    """The name that the question does not have, in the paragraph that shares most words with it."""
    asked = set(_WORD.findall(question.casefold()))
    best = max(context.split("\n\n"), key=lambda one: len(asked & set(_WORD.findall(one.casefold()))), default="")
    names = Counter(name for name in _NAME.findall(best) if name not in question and " " in name)
    return names.most_common(1)[0][0] if names else "nobody"


class Rememberer:
    """Does not read: it knows the books by heart, and knows every question again, whatever the names in it."""

    def __init__(self, found: NovelSet) -> None:
        originals = {item.id: item for item in found.items}
        self._answers = {
            item.question: originals[item.twin or item.id].answer if item.variant == "counterfactual" else item.answer
            for item in found.everything
        }

    def __call__(self, context: str, question: str) -> str:
        return self._answers[question]


class ReaderServer(WireServer):
    """Answers by a reader. `read` counts how often each context was sent, `marked` those marked for a cache."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self._reader = reader
        self.order: list[str] = []
        self.marked = 0

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        system = body["system"] if "system" in body else body["messages"][0]["content"]
        if not isinstance(system, str):
            self.marked += any("cache_control" in part for part in system)
            system = "".join(part["text"] for part in system)
        turn = body["messages"][-1]["content"]
        text = turn if isinstance(turn, str) else "".join(part.get("text", "") for part in turn)
        context = system.partition("The excerpt:\n\n")[2]
        self.order.append(context)
        said = self._reader(context, text.partition("Question: ")[2].strip())
        answer = reply({**body, "tools": None}, prompt, "")
        if request.path.endswith("/messages"):
            answer["content"] = [{"type": "text", "text": said}]
        else:
            answer["choices"][0]["message"] = {"role": "assistant", "content": said}
        return web.json_response(answer)

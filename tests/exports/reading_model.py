"""A small world in passages, and a model on 127.0.0.1 that asks, merges and answers questions about it.

The model knows nothing but what it is shown: an answer follows from the passages in its prompt or is "I do not know".
Its failings are switched on by name. It speaks OpenAI's and Anthropic's wire formats.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from typing import Any

from aiohttp import web

from tests.llm.wire_server import WireServer

FILMS = ("The Amber Road", "Winter Ferry", "A Quiet Harvest", "Salt and Iron", "The Ninth Bell", "Lanterns Below")
DIRECTORS = ("Ilka Moren", "Tobias Wrenfield", "Sanna Okarro", "Pavel Dunmore", "Greta Vasling", "Hugo Brightwater")
TOWNS = ("Tarrow Bay", "Kelmsted", "Upper Drayl", "Port Vellin", "Sarnhollow", "Mirefleet")
COUNTRIES = ("Velmark", "Ostrava Isles", "Dunmere", "Calvania", "Norrheim", "Zembria")
CAPITALS = ("Osterhall", "Lissport", "Gravenburg", "Tolvane", "Hestwick", "Quillon")
FESTIVALS = ("Heron Gala", "Copper Reel", "Lantern Days", "Blue Curtain", "Frost Screen", "Golden Sail")
_SENTENCES = (
    ("directed", re.compile(r"(.+?) is a film of (?P<year>\d{4}) that (.+?) directed")),
    ("lasts", re.compile(r"(.+?) lasts for (\d+ minutes)")),
    ("born", re.compile(r"(.+?) first saw the light in (.+)")),
    ("lies", re.compile(r"(.+?) belongs to (.+)")),
    ("capital", re.compile(r"(.+?) is governed from (.+)")),
    ("houses", re.compile(r"(.+?) houses the (.+)")),
    ("opened", re.compile(r"The (.+?) began with (.+)")),
    ("held", re.compile(r"Visitors of the (.+?) travel to (.+)")),
)


def list_passages() -> list[dict[str, str]]:
    """Six films, each with a director, a town, a country, its capital and a festival."""
    rows: list[tuple[str, str]] = []
    for place, film in enumerate(FILMS):
        director, town, country, capital, festival = (
            names[place] for names in (DIRECTORS, TOWNS, COUNTRIES, CAPITALS, FESTIVALS)
        )
        rows += [
            (
                film,
                f"{film} is a film of {1931 + place} that {director} directed. {film} lasts for {90 + place} minutes.",
            ),
            (director, f"{director} first saw the light in {town}. Nothing else is said."),
            (town, f"{town} belongs to {country}. Visitors of the {FESTIVALS[place - 1]} travel to {town}."),
            (country, f"{country} is governed from {capital}."),
            (festival, f"The {festival} began with {film}."),
        ]
    return [{"title": title, "text": text, "licence": "CC0"} for title, text in rows]


def read_facts(text: str) -> dict[tuple[str, str], str]:
    """What sentences say: relation and subject → object."""
    facts: dict[tuple[str, str], str] = {}
    for sentence in re.split(r"\.(?:\s+|$)", text):
        for relation, pattern in _SENTENCES:
            if match := pattern.fullmatch(sentence.strip()):
                if relation == "directed":
                    facts["directed", f"{match[2]} film {match[1]}"] = match[3]
                elif relation == "opened":
                    facts["opened", match[2]] = f"{match[1]}"
                else:
                    facts[relation, match[1]] = match[2]
    return facts


_ASKED = {
    "directed": "Who directed the {}?",
    "lasts": "How long does the film {} last?",
    "born": "In which town was {} born?",
    "lies": "In which country does {} lie?",
    "capital": "From which city is {} governed?",
    "houses": "Which archive does {} house?",
    "opened": "Which festival did {} open?",
    "held": "In which town is the {} held?",
}
_DESCRIBED = {
    "directed": "the director of the {}",
    "born": "the town where {} was born",
    "lies": "the country in which {} lies",
    "capital": "the city from which {} is governed",
    "houses": "the archive that {} houses",
    "opened": "the festival that {} opened",
    "held": "the town in which the {} is held",
}
_COMPARED = "Which of the films {} and {} lasts longer?"
_LONGER = "the longer one of the films {} and {}"


def _match(form: str, text: str) -> tuple[str, ...]:
    match = re.fullmatch(re.escape(form).replace(r"\{\}", "(.+)"), text)
    return match.groups() if match else ()


def resolve(text: str, facts: dict[tuple[str, str], str]) -> str:
    """What a question asks for, or a description means; empty where the facts do not say."""
    for compared in (_COMPARED, _LONGER):
        if pair := _match(compared, text):
            lengths = [facts.get(("lasts", film)) for film in pair]
            return "" if None in lengths else max(zip(map(str, lengths), pair, strict=True))[1]
    for forms in (_ASKED, _DESCRIBED):
        for relation, form in forms.items():
            if inner := _match(form, text):
                return facts.get((relation, resolve(inner[0], facts)), "")
    return text


class ReadingModel(WireServer):
    """The server. `failings` maps the name of a failing to the passages' titles, or words, that it befalls."""

    def __init__(self, known: dict[str, str] | None = None, /, **failings: Iterable[str]) -> None:
        super().__init__()
        self.known = known or {}
        self.failings = {name: set(words) for name, words in failings.items()}
        self.latency_s = 0.0
        self.kinds: list[str] = []

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        self.answered[json.dumps(body["messages"]) + json.dumps(body.get("system", ""))] += 1
        system = body["system"] if "system" in body else body["messages"][0]["content"]
        if not isinstance(system, str):
            system = "".join(part["text"] for part in system)
        said = self.speak(system, prompt)
        answer = reply({**body, "tools": None}, prompt, "")
        if "choices" in answer:
            answer["choices"][0]["message"] = {"role": "assistant", "content": said}
        else:
            answer["content"] = [{"type": "text", "text": said}]
        return web.json_response(answer)

    def speak(self, system: str, turn: str) -> str:
        """What the model says."""
        for opening, kind in (
            ("You write single-step questions", "atomic"),
            ("You find things that can be compared", "alike"),
            ("You make one question of two", "merge"),
            ("You grade an answer", "grade"),
        ):
            if system.startswith(opening):
                self.kinds.append(kind)
                said: str = getattr(self, f"_say_{kind}")(turn)
                return said
        self.kinds.append("answer")
        head, _, question = turn.rpartition("Question: ")
        facts = read_facts("\n".join(head.splitlines()[1:]).replace("\n", " ")) if head else {}
        for line in head.splitlines():
            facts |= read_facts(line)
        found = resolve(question.strip(), facts)
        return self.known.get(question.strip(), found or "I do not know")

    def _say_atomic(self, turn: str) -> str:
        title = turn.splitlines()[0].removeprefix("Title: ")
        about = re.search(r'questions about "(.+)"\.', turn)
        rows = []
        for (relation, subject), answer in read_facts(turn.splitlines()[2]).items():
            row = {"question": _ASKED[relation].format(subject), "entity": subject, "answer": answer}
            if about is None or about[1] in subject:
                rows.append({**row, "entity": about[1] if about else subject})
        if self._fails("malformed", title):
            return '{"questions": [{"question": "Who'
        for row in rows:
            if self._fails("no_span", title):
                row["answer"] = "Somebody Elsewhere"
            if self._fails("long", title):
                row["answer"] = "one two three four five six seven eight nine ten eleven twelve"
            if self._fails("telling", title):
                row["question"] = row["question"].replace("?", f", by the name of {row['answer']}?")
        return json.dumps({"questions": rows * 6 if self._fails("many", title) else rows})

    def _say_alike(self, turn: str) -> str:
        facts = read_facts(turn.splitlines()[5])
        rows = [
            {"question": _ASKED[relation].format(subject), "entity": subject, "answer": answer}
            for (relation, subject), answer in facts.items()
            if relation == "lasts" and turn.startswith("The question: How long")
        ]
        return json.dumps({"questions": rows})

    def _say_merge(self, turn: str) -> str:
        first, answer, second, last = re.findall(r"(?:question|Answer): (.+)", turn)
        if turn.startswith("Kind: comparison"):
            one, other = re.findall(r'"([^"]+)"', turn)
            longer = one if answer > last else other
            return json.dumps({"question": _COMPARED.format(one, other), "answer": longer})
        described = _LONGER.format(*pair) if (pair := _match(_COMPARED, first)) else ""
        for relation, form in _ASKED.items():
            if inner := _match(form, first):
                described = described or _DESCRIBED[relation].format(inner[0])
        question = second.replace(answer, described)
        if any(words in first for words in self.failings.get("lost_year", ())):
            question = re.sub(r"\b19\d\d ", "", question)
        if any(words in first for words in self.failings.get("leaked", ())):
            question = question.replace("?", f", of which {answer} is one?")
        if any(words in first for words in self.failings.get("short", ())):
            question = "What is it?"
        if any(words in first for words in self.failings.get("beside", ())):
            question = f"{first.removesuffix('?')} and so {second}".replace(answer, "that one")
        if any(words in first for words in self.failings.get("objected", ())):
            return json.dumps({"question": "", "answer": "", "objection": "they do not belong together"})
        return json.dumps({"question": question, "answer": last})

    def _say_grade(self, turn: str) -> str:
        given = turn.rpartition("Given: ")[2].strip()
        return json.dumps(
            {"score": int(any(words in given for words in self.failings.get("partly", ()))), "reason": ""}
        )

    def _fails(self, name: str, title: str) -> bool:
        return title in self.failings.get(name, ())

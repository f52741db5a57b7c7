"""A model on 127.0.0.1 that words plans well, and errs at known rates: OpenAI's and Anthropic's wire formats.

It reads the plan from the prompt and words it by templates of its own. Which answer goes wrong, and how, is drawn from
the prompt and the number of the round, so the same request meets the same fault whatever the order. It counts the
faults that it gave, and requests that came again. As a program it prints its address as one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.llm.wire_answers import draw
from tests.llm.wire_server import Faults, WireServer

KINDS = {
    "wrong_entity": "entities",
    "leaked_answer": "leakage",
    "broken_json": "broken_json",
    "extra_hop": "extra_hop",
    "true_distractor": "true_distractor",
    "refusal": "refusal",
    "swapped_number": "numbers",
}
"""What goes wrong → what the yield report calls it."""
_LONGEST_CONTEXT = 600
_LEADS = ("Put plainly, ", "By what is recorded, ", "Put shortly, ")
_STRANGERS = ("Zanzibar Records", "Otto von Lummerland", "Grand Fenwick")
_STEPS = (
    ("spouse", "Who is the spouse of the person after whom this is called: {}"),
    ("currency", "{}, and what is the currency there?"),
    ("mayor", "Which mayor governs the seat of the following: {}"),
    ("anthem", "{} And what is its anthem?"),
    ("translator", "In words of its translator, {}"),
)
_NAMES = {
    "country": ("Portugal", "Norway", "Peru"),
    "football club": ("AFC Ajax", "FC Porto", "Celtic F.C."),
    "year": ("1777", "1912", "1903"),
}


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares (0 to 1) of answers that go wrong in each way; `stubborn` of the plans meet theirs in every round."""

    wrong_entity: float = 0.0
    leaked_answer: float = 0.0
    broken_json: float = 0.0
    extra_hop: float = 0.0
    true_distractor: float = 0.0
    refusal: float = 0.0
    swapped_number: float = 0.0
    stubborn: float = 0.0


class FallibleModel(WireServer):
    """The server. `given` counts faulty answers by kind, `spoilt` holds the questions and options that were in them."""

    def __init__(self, rates: Rates, faults: Faults | None = None) -> None:
        super().__init__(faults)
        self.rates = rates
        self.keep_bodies = False
        self.given: Counter[str] = Counter()
        self.answers = 0
        self.spoilt: set[str] = set()

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        """The reply of the wire format, with a wording of the plan in it."""
        fault = self.draw_fault(prompt)
        if fault:
            self.counts[fault] += 1
        if self.faults.latency_s:
            await asyncio.sleep(self.faults.latency_s)
        if fault == "status_500":
            return web.json_response({"error": {"message": "The server had an error"}}, status=500)
        self.answered[prompt] += 1
        text, erred = self.speak(body, prompt)
        answer = reply(body, prompt, "refusal" if erred == "refusal" else "")
        if erred != "refusal":
            _put(answer, text)
        return web.json_response(answer)

    def speak(self, body: dict[str, Any], prompt: str) -> tuple[str, str]:
        """The answer's text, and what is wrong with it (empty: nothing)."""
        plan = read_plan(prompt)
        rounds = sum(message["role"] == "user" for message in body["messages"])
        erred = self._draw_error(prompt, rounds)
        answer = word(plan, prompt, rounds)
        if erred in ("wrong_entity", "leaked_answer", "extra_hop", "true_distractor", "swapped_number"):
            spoilt = spoil(answer, plan, erred, prompt)
            erred = erred if spoilt is not None else ""
            answer = spoilt or answer
        self._count(erred, answer.pop("spoilt", answer["question"]))
        text = json.dumps(answer, ensure_ascii=False)
        return text[: len(text) // 2] if erred == "broken_json" else text, erred

    def _draw_error(self, prompt: str, rounds: int) -> str:
        stubborn = draw(prompt, "stubborn") < self.rates.stubborn
        point = draw(prompt, "error" if stubborn else f"error {rounds}")
        for name in KINDS:
            share = getattr(self.rates, name)
            if point < share:
                return name
            point -= share
        return ""

    def _count(self, erred: str, spoilt: str) -> None:
        self.answers += 1
        if erred:
            self.given[KINDS[erred]] += 1
            if erred not in ("refusal", "broken_json"):
                self.spoilt.add(spoilt)

    def stats(self) -> dict[str, Any]:
        """Also the faults given."""
        return {**super().stats(), "given": dict(self.given), "answers": self.answers}


def read_plan(prompt: str) -> dict[str, Any]:
    """The plan in a prompt: hops with task, names, numbers, facts and answer, and the one question."""
    head, _, tail = prompt.partition("\nThe one question\n")
    hops = []
    for block in re.split(r"\n\n(?=Hop \d)", head)[1:]:
        fields = dict(re.findall(r"^  (task|facts|answer|also called): (.*)$", block, re.MULTILINE))
        answer, kind = re.fullmatch(r"(.*) \(([^()]*)\)", fields["answer"]).groups()  # type: ignore[union-attr]
        hops.append({
            "task": fields["task"], "facts": fields.get("facts", ""), "answer": answer, "kind": kind,
            "also": fields.get("also called", "").split("; "), **_read_lists(block),
        })  # fmt: skip
    stiff = re.search(r"^  stiffly: (.*)$", tail, re.MULTILINE)
    never = re.search(r"^  never: (.*)$", tail, re.MULTILINE)
    assert stiff and never and hops, prompt
    return {"hops": hops, "question": stiff[1], "never": json.loads(never[1]), **_read_lists(tail)}


def word(plan: dict[str, Any], prompt: str, rounds: int) -> dict[str, Any]:
    """A right wording of a plan: ours, in other words than the task's and the stiff version's."""
    lead = _LEADS[int(draw(prompt, f"lead {rounds}") * len(_LEADS))]
    subs = [
        {
            "index": index,
            "question": _lead_in(lead, hop["task"], hop["names"]),
            "context": _tell(hop),
            "distractors": [name for name in _NAMES.get(hop["kind"], ()) if name != hop["answer"]],
        }
        for index, hop in enumerate(plan["hops"], start=1)
    ]
    return {"sub_questions": subs, "question": _lead_in(lead, plan["question"], plan["names"])}


def spoil(answer: dict[str, Any], plan: dict[str, Any], erred: str, prompt: str) -> dict[str, Any] | None:
    """The answer with one fault in it; None where this plan has no place for it."""
    pick = draw(prompt, erred)
    if erred == "true_distractor":
        place = int(pick * len(plan["hops"]))
        hop = plan["hops"][place]
        also = [name for name in hop["also"] if " " in name]
        answer["sub_questions"][place]["distractors"] = [text := also[0] if also and pick < 0.5 else hop["answer"]]
        return {**answer, "spoilt": text}
    if erred == "wrong_entity":
        return _swap(answer, plan, "names", lambda name: _STRANGERS[int(pick * len(_STRANGERS))])
    if erred == "swapped_number":
        return _swap(answer, plan, "numbers", lambda number: _next_number(number, plan))
    if erred == "leaked_answer":
        # A title that is a question would be counted as a second one.
        fit = [one for one in plan["never"] if one not in plan["numbers"] and "?" not in one]
        fit = [one for one in fit if one not in answer["question"]]
        if not fit:
            return None
        leak = fit[int(pick * len(fit))]
        return {**answer, "question": answer["question"].removesuffix("?") + f", as {leak} was?"}
    fit = [form for word, form in _STEPS if word not in prompt.lower()]
    form = fit[int(pick * len(fit))]
    question = answer["question"].removesuffix("?") + "?"
    if not form.startswith("{}") and not question.startswith(tuple(plan["names"])):
        question = _lead_in("", question)
    return {**answer, "question": form.format(question).replace("?,", ",")}


def _swap(answer: dict[str, Any], plan: dict[str, Any], what: str, other: Any) -> dict[str, Any] | None:
    for old in plan[what]:
        if re.search(rf"(?<![\w,]){re.escape(old)}(?![\w,])", answer["question"]):
            return {**answer, "question": answer["question"].replace(old, other(old), 1)}
    for hop, sub in zip(plan["hops"], answer["sub_questions"], strict=True):
        for old in hop[what]:
            if old in sub["question"]:
                sub["question"] = sub["question"].replace(old, other(old), 1)
                return {**answer, "spoilt": sub["question"]}
    return None


def _next_number(number: str, plan: dict[str, Any]) -> str:
    value = int(number.replace(",", "")) + 3
    while f"{value}" in plan["never"] or f"{value:,}" in plan["never"]:
        value += 1
    return f"{value:,}" if "," in number else f"{value}"


def _lead_in(lead: str, question: str, names: Sequence[str] = ()) -> str:
    start = re.match(r"(?:\{[\d+]+: )*", question).end()  # type: ignore[union-attr]
    named = question.startswith(tuple(names), start) if names else False
    return lead + (
        question if named else question[:start] + question[start : start + 1].lower() + question[start + 1 :]
    )


def _tell(hop: dict[str, Any]) -> str:
    """The facts as sentences; with nothing to tell, or too much for a context, nothing."""
    facts = [fact.split(" | ") for fact in hop["facts"].split("; ") if fact.count(" | ") == 2]
    text = " ".join(f"The {relation} of {subject} is {object}." for subject, relation, object in facts)
    told = re.search(rf"(?<![\w,.-]){re.escape(hop['answer'])}(?![\w,-]|\.\d)", text)
    whole = text if not text or told else f"{text} This gives {hop['answer']}."
    return whole if len(whole) <= _LONGEST_CONTEXT else ""


def _read_lists(block: str) -> dict[str, list[str]]:
    found = re.search(r"^  names: (\[.*\])  numbers: (\[.*\])$", block, re.MULTILINE)
    assert found, block
    return {"names": json.loads(found[1]), "numbers": json.loads(found[2])}


def _put(answer: dict[str, Any], text: str) -> None:
    """Our text into a reply of either wire format."""
    if "choices" in answer:
        answer["choices"][0]["message"]["content"] = text
        answer["usage"]["completion_tokens"] = max(1, len(text) // 4)
        return
    answer["content"] = [{"type": "text", "text": text}]
    answer["usage"]["output_tokens"] = max(1, len(text) // 4)


def main() -> None:
    """Serve until the parent ends; every rate is an option."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--idle", type=float, default=300)
    for field in dataclasses.fields(Rates):
        parser.add_argument(f"--{field.name}", type=float, default=0.0)
    options = vars(parser.parse_args())
    latency_s, idle_s = options.pop("latency"), options.pop("idle")
    asyncio.run(FallibleModel(Rates(**options), Faults(latency_s=latency_s)).serve(idle_s))


if __name__ == "__main__":
    main()

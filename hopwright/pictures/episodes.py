"""Questions about pictures as tasks of agents: `image_search` tells what a picture shows, `search` finds the facts.

The passages are the facts that the set's items rest on, one each, all of them together: an offline world in which
every hop can be found, and in which most of what can be found is beside the point.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hopwright.environments.episode import Episode
from hopwright.environments.fact_finder import FactFinder
from hopwright.environments.picture_finder import PictureFinder
from hopwright.environments.rewards import weigh_hops
from hopwright.environments.task import MAX_STEPS, FoundPassage, GoldFact, GoldPlace, Task, TaskHop
from hopwright.environments.tools import PICTURE_TOOLS
from hopwright.environments.transcript import Transcript
from hopwright.environments.verifier import Verdict, verify
from hopwright.evaluation.tool_loop import play_episodes, read_final_answer
from hopwright.evaluation.tool_runner import RESULT_WORDS
from hopwright.knowledge.images.searching import ImageSearcher
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.llm.asking import RequestSender
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import ImageData, Message, ModelRef, Request, Sampling, parse_model
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.evaluation import Tell
from hopwright.pictures.rows import list_media, read_text, read_typed
from hopwright.records import Hop, Item, LiteralFact, ReadRegion, Triplet
from hopwright.records.values import render
from hopwright.scoring.typed_answers import Protocol, judge_answer
from hopwright.settings import PicturesEvaluateParameters

PROMPT = "answer-with-tools"


@dataclass(frozen=True, slots=True)
class PictureEpisode:
    """One item played by one model: the transcript, what it shows of each hop, and whether the answer is right."""

    item: Item
    model: str
    transcript: Transcript
    verdict: Verdict
    right: bool


class PictureWorld:
    """The episodes over one set: its questions with their pictures, what is found for them, and how they end."""

    def __init__(self, found: PictureSet, searcher: ImageSearcher) -> None:
        self._found = found
        self._searcher = searcher
        self._facts = FactFinder(tell_facts([*(item for item, _ in found.items), *found.twins]))

    def begin(self, item: Item, max_steps: int = MAX_STEPS) -> Episode:
        """The episode of an item, before its first turn."""
        pictures = [self._found.read_png(media) for media in list_media(item)]
        finder = PictureFinder(self._searcher, pictures, self._facts)
        return Episode(make_picture_task(item, max_steps), finder, read_final_answer)

    def ask(self, item: Item, model: ModelRef, sampling: Sampling) -> Request:
        """The first request: the question with its pictures, and the tools."""
        prompt = load_prompts()[PROMPT]
        request = prompt.request({"question": read_text(item.question_parts)}, model, item=item.id, sampling=sampling)
        *before, last = request.messages
        images = tuple(ImageData(self._found.read_png(media)) for media in list_media(item))
        return replace(request, messages=(*before, replace(last, images=images)), tools=PICTURE_TOOLS)

    def play(
        self, items: Sequence[Item], model: ModelRef, sender: RequestSender, sampling: Sampling, protocol: Protocol
    ) -> list[PictureEpisode]:
        """Have a model answer the items with its tools."""
        starts = [(self.begin(item), self.ask(item, model, sampling)) for item in items]
        played = play_episodes(sender, starts)
        return [
            self.judge(item, str(model), one.transcript, protocol) for item, one in zip(items, played, strict=True)
        ]

    def judge(self, item: Item, model: str, transcript: Transcript, protocol: Protocol) -> PictureEpisode:
        """Hold a transcript against its item."""
        answered = transcript.ended == "answered"
        right = answered and judge_answer(transcript.answer, read_typed(item), protocol)
        return PictureEpisode(item, model, transcript, verify(make_picture_task(item), transcript), right)


def evaluate_agents(
    world: PictureWorld, found: PictureSet, parameters: PicturesEvaluateParameters, sender: RequestSender, tell: Tell
) -> dict[str, Any]:
    """Ask every model about a part of a set with tools; a row for each."""
    items = found.of_split(parameters.split)[: parameters.limit or None]
    sampling = Sampling(max_tokens=parameters.max_tokens, temperature=0)
    episodes: list[PictureEpisode] = []
    for model in parameters.models:
        tell(f"{model}: {len(items):,} episodes")
        episodes += world.play(items, parse_model(model), sender, sampling, parameters.protocol)
    failures = Counter(one.transcript.reason for one in episodes if one.transcript.ended == "failed")
    return {
        "items": len(items),
        "split": parameters.split,
        "protocol": parameters.protocol,
        "rows": list(summarise_episodes(episodes)),
        "failures": dict(failures.most_common(5)),
    }


def list_agent_requests(
    world: PictureWorld, found: PictureSet, parameters: PicturesEvaluateParameters
) -> Iterator[ApproximateRequest]:
    """About what evaluating agents would ask: a turn for every hop, and one for the answer."""
    sampling = Sampling(max_tokens=parameters.max_tokens, temperature=0)
    for model in parameters.models:
        for item in found.of_split(parameters.split)[: parameters.limit or None]:
            request = world.ask(item, parse_model(model), sampling)
            yield ApproximateRequest(request)
            for _ in item.hops:
                request = replace(request, messages=(*request.messages, Message("user", "words " * RESULT_WORDS)))
                yield ApproximateRequest(request)


def make_picture_task(item: Item, max_steps: int = MAX_STEPS) -> Task:
    """An item as a task: a picture's hop is found where the picture is looked up, another where its facts are."""
    hops = tuple(
        TaskHop(
            hop.index,
            read_text(hop.question_parts) or hop.question,
            (hop.answer, *hop.answer_aliases),
            hop.depends_on,
            tuple(_list_gold(hop)),
        )
        for hop in item.hops
    )
    gold = read_typed(item)
    kind = {"date": "date", "number": "number"}.get(gold.kind, "text")
    return Task(
        item.id, read_text(item.question_parts), (item.answer, *item.answer_aliases), kind, hops, max_steps
    )  # fmt: skip


def summarise_episodes(episodes: Sequence[PictureEpisode]) -> Iterator[dict[str, Any]]:
    """One row for each model: accuracy, calls by tool, the share of hops found, our reward on average."""
    for model in dict.fromkeys(one.model for one in episodes):
        held = [one for one in episodes if one.model == model]
        hops = [hop for one in held for hop in one.verdict.hops]
        calls = Counter(action.name for one in held for action in one.transcript.actions)
        yield {
            "model": model,
            "episodes": len(held),
            "right": sum(one.right for one in held),
            "accuracy": sum(one.right for one in held) / len(held),
            "hops_found": sum(hop.found for hop in hops) / len(hops),
            "reward": sum(weigh_hops(one.verdict) for one in held) / len(held),
            "calls": dict(sorted(calls.items())),
        }


def list_facts(hop: Hop) -> list[Triplet | LiteralFact]:
    """The facts of the graph that a hop rests on."""
    return [*hop.evidence.triplets, *hop.evidence.literals]


def tell_facts(items: Iterable[Item]) -> list[FoundPassage]:
    """The facts of items as passages, each once, in the order of their ids."""
    facts = {name_fact(fact): fact for item in items for hop in item.hops for fact in list_facts(hop)}
    return [_tell_fact(id, facts[id]) for id in sorted(facts)]


def name_fact(fact: Triplet | LiteralFact) -> str:
    """The id of a fact as a passage."""
    return "fact-" + hashlib.blake2b(fact.model_dump_json().encode(), digest_size=8).hexdigest()


def _list_gold(hop: Hop) -> Iterator[GoldFact]:
    if isinstance(hop.derivation, ReadRegion):
        yield (GoldPlace(hop.derivation.document, 0, 1),)
    for fact in list_facts(hop):
        id = name_fact(fact)
        yield (GoldPlace(id, 0, 1),)


def _tell_fact(id: str, fact: Triplet | LiteralFact) -> FoundPassage:
    value = fact.object_label if isinstance(fact, Triplet) else _tell_value(fact)
    text = f"{fact.subject_label}: {fact.property_label}: {value}"
    return FoundPassage(id, fact.subject_label, text, id, 0, len(text))


def _tell_value(fact: LiteralFact) -> str:
    """A literal in the unit in which questions ask for it."""
    table = default_table()
    value = table.read(fact)
    if value is None:
        return fact.value
    unit = table.literal[fact.property].unit
    return f"{render(value)} {unit}".strip()

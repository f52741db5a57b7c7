"""One model that is asked about items with tools and, for comparison, without; the rows that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import pyarrow as pa

from hopwright.environments.episode import Episode
from hopwright.environments.rewards import weigh_hops
from hopwright.environments.task import Task
from hopwright.environments.tools import TOOLS, CorpusFinder
from hopwright.environments.verifier import verify
from hopwright.evaluation.contexts import GivenContext, Mode, draw_context
from hopwright.evaluation.gold import GoldFinder, is_measurable, name_source
from hopwright.evaluation.items import EvalItem
from hopwright.evaluation.tool_loop import PlayedEpisode, play_episodes, read_final_answer
from hopwright.knowledge.documents.index import Retriever
from hopwright.llm.asking import RequestSender
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import Prompt
from hopwright.llm.types import Message, ModelRef, Request

WITH_TOOLS = "answer-with-tools"
WITHOUT_TOOLS = "answer-open-cot"
RESULT_WORDS = 600
"""Words of three passages, about, for an estimate."""

EPISODE_SCHEMA = pa.schema(
    [
        ("model", pa.string()),
        ("item", pa.string()),
        ("pair", pa.string()),
        ("variant", pa.string()),
        ("topology", pa.string()),
        ("hops", pa.int8()),
        ("mode", pa.string()),
        ("prompt", pa.string()),
        ("prompt_version", pa.string()),
        ("model_version", pa.string()),
        ("keys", pa.list_(pa.string())),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("given", pa.string()),
        ("gold", pa.string()),
        ("right", pa.bool_()),
        ("em", pa.float64()),
        ("f1", pa.float64()),
        ("close", pa.bool_()),
        ("judge_score", pa.int8()),
        ("failure", pa.string()),
        ("max_depth", pa.int8()),
        ("turns", pa.int16()),
        ("steps", pa.int16()),
        ("useless", pa.int16()),
        ("malformed", pa.int16()),
        ("reward", pa.float64()),
        ("gold_source", pa.string()),
        ("dropped_hop", pa.int8()),
        ("hop_facts", pa.list_(pa.int8())),
        ("hop_shown", pa.list_(pa.int8())),
        ("hop_found", pa.list_(pa.bool_())),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("cost_usd", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode: a row of EPISODE_SCHEMA.

    `failure` is empty for a right answer, `max_depth` None where it cannot be told. `judge_score`, 0 to 2, is None
    until a judge has graded the answer (`tool_judging`). The lists have one entry a hop: facts with gold places, those
    of them that were shown, whether the hop was found. `useless` calls served no hop.
    """

    model: str
    item: str
    pair: str
    variant: str
    topology: str
    hops: int
    mode: str
    prompt: str
    prompt_version: str
    model_version: str
    keys: tuple[str, ...]
    outcome: str
    reason: str
    given: str
    gold: str
    right: bool
    em: float
    f1: float
    close: bool
    judge_score: int | None
    failure: str
    max_depth: int | None
    turns: int
    steps: int
    useless: int
    malformed: int
    reward: float
    gold_source: str
    dropped_hop: int
    hop_facts: tuple[int, ...]
    hop_shown: tuple[int, ...]
    hop_found: tuple[bool, ...]
    input_tokens: int
    output_tokens: int
    cost_usd: float


class ToolRunner:
    """Plays the episodes of one model over one corpus."""

    def __init__(
        self, model: ModelRef, prompts: dict[str, Prompt], modes: Sequence[Mode], retriever: Retriever, *,
        max_steps: int, max_tokens: int = 0, seed: int = 0,
    ) -> None:  # fmt: skip
        self._model = model
        self._prompts = prompts
        self._modes = tuple(modes)
        self._retriever = retriever
        self._finder = CorpusFinder(retriever)
        self._gold = GoldFinder(retriever)
        self._max_steps = max_steps
        self._max_tokens = max_tokens
        self._seed = seed

    def ask(self, items: Sequence[EvalItem], sender: RequestSender) -> list[EpisodeRow]:
        """Play every mode of every item. Raises InputError where an item cites what the corpus does not hold."""
        rows: list[tuple[EvalItem, Task, Mode, GivenContext, Request]] = []
        starts: list[tuple[Episode, Request]] = []
        for item in items:
            task = self._gold.make_task(item, self._max_steps)
            for mode in self._modes:
                context = draw_context(task, mode, self._retriever, self._seed)
                request = self._begin(item, mode, context)
                starts.append((Episode(task, self._finder, read_final_answer, context.passages), request))
                rows.append((item, task, mode, context, request))
        played = play_episodes(sender, starts)
        return [self._score(*row, episode) for row, episode in zip(rows, played, strict=True)]

    def list_requests(self, items: Iterable[EvalItem]) -> Iterator[Request | ApproximateRequest]:
        """What would be asked without tools, and about what with them: a turn for every hop and one for the answer."""
        for item in items:
            task = self._gold.make_task(item, self._max_steps)
            for mode in self._modes:
                request = self._begin(item, mode, draw_context(task, mode, self._retriever, self._seed))
                if mode != "search":
                    yield request
                    continue
                yield ApproximateRequest(request)
                for _ in item.hops:
                    shown = Message("user", "words " * RESULT_WORDS)
                    request = replace(request, messages=(*request.messages, shown))
                    yield ApproximateRequest(request)

    def _begin(self, item: EvalItem, mode: Mode, context: GivenContext) -> Request:
        if mode == "search":
            prompt = self._prompts[WITH_TOOLS]
            request = replace(prompt.request({"question": item.question}, self._model, item=item.id), tools=TOOLS)
        else:
            passages = [{"title": one.title, "text": one.text} for one in context.passages]
            inputs = {"question": item.question, "passages": passages, "steps": [], "sub_questions": []}
            request = self._prompts[WITHOUT_TOOLS].request(inputs, self._model, item=item.id)
        if self._max_tokens:
            request = replace(request, sampling=replace(request.sampling, max_tokens=self._max_tokens))
        return request

    def _score(
        self, item: EvalItem, task: Task, mode: Mode, context: GivenContext, request: Request, episode: PlayedEpisode
    ) -> EpisodeRow:
        transcript, costs = episode.transcript, episode.costs
        verdict = verify(task, transcript, closed_book=mode == "none")
        return EpisodeRow(
            model=str(self._model),
            item=item.id,
            pair=item.pair,
            variant=item.variant,
            topology=item.topology,
            hops=len(item.hops),
            mode=mode,
            prompt=request.prompt,
            prompt_version=request.prompt_version,
            model_version=costs.model_version,
            keys=costs.keys,
            outcome=transcript.ended,
            reason=transcript.reason,
            given=transcript.answer,
            gold=item.answer,
            right=verdict.right,
            em=verdict.score.em,
            f1=verdict.score.f1,
            close=verdict.close,
            judge_score=None,
            failure=verdict.failure or "",
            max_depth=verdict.max_depth if is_measurable(item, task) else None,
            turns=len(transcript.turns),
            steps=transcript.steps,
            useless=verdict.serving.count(False),
            malformed=transcript.malformed,
            reward=weigh_hops(verdict),
            gold_source=name_source(item, task),
            dropped_hop=context.dropped,
            hop_facts=tuple(hop.facts for hop in verdict.hops),
            hop_shown=tuple(hop.shown for hop in verdict.hops),
            hop_found=tuple(hop.found for hop in verdict.hops),
            input_tokens=costs.input_tokens,
            output_tokens=costs.output_tokens,
            cost_usd=costs.cost_usd,
        )


def to_episode_table(rows: Iterable[EpisodeRow]) -> pa.Table:
    """The rows as a table of EPISODE_SCHEMA."""
    return pa.Table.from_pylist([asdict(row) for row in rows], schema=EPISODE_SCHEMA)

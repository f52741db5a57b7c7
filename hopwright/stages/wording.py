"""Having a model word the drafts of one shard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from hopwright.errors import InputError
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.llm.asking import RequestSender
from hopwright.llm.config import read_settings
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Request, parse_model
from hopwright.records import Item, Rejected
from hopwright.records.arrow import ITEM_SCHEMA, items_to_table, read_parquet, table_to_items
from hopwright.runs import ResourceUsage, ShardOutput
from hopwright.settings import SynthesizeParameters, name_parameter
from hopwright.stages.drafting import open_synthesizer, write_target_distribution
from hopwright.stages.models import ModelAccess, open_models
from hopwright.wording.base import RulesOnlyWriter, WordingResult
from hopwright.wording.llm.editing import Editor
from hopwright.wording.llm.model import PROMPT, ModelWriter, ModelWriterSettings
from hopwright.wording.llm.plan_brief import PlanBriefWriter
from hopwright.wording.llm.reading_back import ANSWER_PROMPT, READ_PROMPT, QuestionReader

_SPEAKS = {"anthropic": ("anthropic",), "openai": ("openai", "compatible")}
"""Writer → the kinds of endpoints that it goes to; either goes to kinds that another package added."""


@dataclass(frozen=True, slots=True)
class WordingShard:
    """Some drafts to be worded: rows of parts, and all that wording them depends on.

    `embeddings` names the sentence-embedding model that the drafts were made with, `claims` is their bank.
    """

    store: Path
    seed: int
    parameters: SynthesizeParameters
    rows: tuple[tuple[Path, tuple[int, ...]], ...]
    access: ModelAccess
    embeddings: str = ""
    claims: str = ""


def word_drafts(shard: WordingShard) -> ShardOutput:
    """Word one shard of drafts, checked; the same answers give the same bytes."""
    writer = make_writer(shard, open_models(shard.access))
    worded = writer.word(read_drafts(shard))
    items = [one.result for one in worded if isinstance(one.result, Item)]
    rejected = [one.result for one in worded if isinstance(one.result, Rejected)]
    usage = ResourceUsage(
        input_tokens=sum(one.input_tokens for one in worded),
        output_tokens=sum(one.output_tokens for one in worded),
        cost_usd=sum(one.cost_usd for one in worded),
    )
    return ShardOutput(items_to_table(items), rejected, taken=len(worded), usage=usage, figures=add_figures(worded))


def list_requests(shard: WordingShard) -> Iterator[Request | ApproximateRequest]:
    """What wording a shard asks first, and about what reading it back would ask."""
    return list_asked(shard, read_drafts(shard))


def list_asked(shard: WordingShard, drafts: Iterable[Item]) -> Iterator[Request | ApproximateRequest]:
    """What wording these drafts asks first, and about what reading them back would; later rounds are few."""
    writer = make_writer(shard, None)
    reader = make_reader(shard.parameters.reading_model, default_table()) if shard.parameters.reading_model else None
    for draft in drafts:
        yield writer.first_request(draft)
        if reader is not None:  # the questions to be read are not known yet; the rules' are about as long
            yield ApproximateRequest(reader.ask_steps(draft))
            yield ApproximateRequest(reader.ask_answer(draft))


def make_writer(shard: WordingShard, asker: RequestSender | None) -> ModelWriter:
    """The writer that a commission asks for; without an asker it can only list requests."""
    wanted = shard.parameters
    synthesizer = open_synthesizer(
        shard.store, shard.seed, write_target_distribution(wanted), shard.embeddings, shard.claims
    )
    table = default_table()
    editor = Editor(
        synthesizer.graph, table, synthesizer.kinds, synthesizer.context, synthesizer.distractors, seed=shard.seed
    )
    terms = ModelWriterSettings(
        parse_model(wanted.model), tuple(map(parse_model, wanted.fallback_models)), wanted.temperature, wanted.rounds
    )
    briefs = PlanBriefWriter(table, synthesizer.kinds)
    reader = make_reader(wanted.reading_model, table) if wanted.reading_model else None
    instead = RulesOnlyWriter() if wanted.keep_rules else None
    return ModelWriter(asker, load_prompts()[PROMPT], terms, editor, briefs, instead, reader)


def make_reader(model: str, table: PropertyTable) -> QuestionReader:
    """Whoever reads questions back, with the shipped prompts."""
    prompts = load_prompts()
    return QuestionReader(parse_model(model), prompts[READ_PROMPT], prompts[ANSWER_PROMPT], table)


def check_models(parameters: SynthesizeParameters, access: ModelAccess) -> None:
    """Raises InputError when a model's endpoint speaks another format than the writer's, or there is none."""
    settings = read_settings(access.endpoints)
    for model in (parameters.model, *parameters.fallback_models):
        endpoint = settings.endpoint(parse_model(model).provider)
        other = next((writer for writer, kinds in _SPEAKS.items() if endpoint.kind in kinds), None)
        if other is not None and endpoint.kind not in _SPEAKS[parameters.writer]:
            raise InputError(
                f"the endpoint {endpoint.name!r} of {model} speaks the format of the writer {other}: "
                f"set {name_parameter('synthesize.writer')} to {other}, or choose another model"
            )


def read_drafts(shard: WordingShard) -> list[Item]:
    """The drafts of a commission, in order."""
    drafts: list[Item] = []
    for part, rows in shard.rows:
        drafts += table_to_items(read_parquet(part, ITEM_SCHEMA).take(pa.array(rows, pa.int64())))
    return drafts


def add_figures(worded: Iterable[WordingResult]) -> Counter[str]:
    """The sums that a shard reports: requests, faults of answers by kind, and what became of the answers."""
    figures = Counter[str]()
    for one in worded:
        figures["requests"] += one.requests
        if isinstance(one.result, Item) and one.result.provenance.generator == "model":
            figures["requests_of_accepted"] += one.requests
        for kind, count in one.faults.items():
            figures[f"faults.{kind}"] += count
        figures.update(one.counts)
    return +figures

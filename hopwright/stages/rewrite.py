"""Passages, stage-one twins and finished twins of one part."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hopwright.counterfactual.apertium import ApertiumBackTranslator
from hopwright.counterfactual.authors import ModelPassageAuthor
from hopwright.counterfactual.back_translation import ItemBackTranslation, RewordingBounds, TextBackTranslation
from hopwright.counterfactual.back_translation import list_texts as list_pieces
from hopwright.counterfactual.marian import MarianBackTranslator
from hopwright.counterfactual.meaning import MiniLmSimilarity, ModelJudge
from hopwright.counterfactual.model_translation import HOME, ModelBackTranslator
from hopwright.counterfactual.passage_builder import PassageBuilder
from hopwright.counterfactual.report import name_bin
from hopwright.counterfactual.rewording_checks import mask
from hopwright.counterfactual.rewriting import TwinServices, finish_twins
from hopwright.counterfactual.translating import BackTranslator
from hopwright.errors import InputError
from hopwright.knowledge.documents.corpus import PassageCorpus, read_corpus
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import parse_model
from hopwright.records import Item
from hopwright.records.arrow import ITEM_SCHEMA, items_to_table, read_columns, read_items, read_parquet, read_rejected
from hopwright.runs import ShardOutput
from hopwright.runs.manifest import ResourceUsage
from hopwright.settings import RewriteParameters
from hopwright.stages.models import ModelAccess, open_models
from hopwright.stages.resources import open_graph
from hopwright.text.embeddings import find_obstacle

_CHECK = "back_translation"
_NAMES = {"pass": "questions reworded", "fail": "questions kept: the new wording failed a check"}
_MOST_SALTS = 20


@dataclass(frozen=True, slots=True)
class RewriteContext:
    """What all shards of the stage share: graph, seed, parameters, and the leave to ask models where they do."""

    store: Path
    seed: int
    wanted: RewriteParameters
    access: ModelAccess | None = None


@dataclass(frozen=True, slots=True)
class PassagesPart:
    """One part of items, to be given passages."""

    part: Path
    context: RewriteContext


@dataclass(frozen=True, slots=True)
class DraftsPart:
    """One part of furnished items, to be given stage-one twins."""

    part: Path
    context: RewriteContext


@dataclass(frozen=True, slots=True)
class RewritePart:
    """One part of stage-one twins with what was rejected beside it. salts: items whose twins need other names."""

    drafts: Path
    rejected: Path
    items: Path
    context: RewriteContext
    translate: bool
    salts: Mapping[str, int] = field(default_factory=dict)


def add_passages_to_part(spec: PassagesPart) -> ShardOutput:
    """Give the items of one part their passages."""
    if spec.context.wanted.passages == "off":
        table = read_parquet(spec.part, ITEM_SCHEMA)
        return ShardOutput(table, [], taken=table.num_rows)
    items = read_items(spec.part)
    furnished = _open_passage_builder(spec.context).build_passages(items)
    figures = Counter[str]()
    for one in furnished:
        figures["passages by rules"] += one.rules
        figures["passages by a model or from the corpus"] += one.other
        figures["items with a passage that fell back on rules"] += any(
            check.name == "passages" and check.outcome == "fail" for check in one.item.checks
        )
    paid = [one.spent for one in furnished]
    return ShardOutput(
        items_to_table(one.item for one in furnished),
        [],
        taken=len(items),
        figures=figures,
        usage=ResourceUsage(
            input_tokens=sum(one.input_tokens for one in paid),
            output_tokens=sum(one.output_tokens for one in paid),
            cost_usd=round(sum(one.cost_usd for one in paid), 6),
        ),
    )


def make_twins_of_part(spec: DraftsPart) -> ShardOutput:
    """Make the stage-one twins of one part."""
    items = read_items(spec.part)
    twins, rejected = open_twin_services(spec.context).make_twins(items)
    return ShardOutput(items_to_table(twins), rejected, taken=len(items))


def resolve_name_collisions(drafts: Sequence[Path], items: Sequence[Path], context: RewriteContext) -> dict[str, int]:
    """The items whose twins must be made again because another twin has one of their names, each with its salt.

    The first, in the order of the parts, keeps the name. Names are drawn item by item, so that shards need not know of
    each other; among some hundred thousand of them a few meet.
    """
    owners: dict[str, str] = {}
    clashing: dict[str, int] = {}
    for part, id, names in _read_worlds(drafts):
        if any(owners.get(name, id) != id for name in names):
            clashing[id] = part
        else:
            owners.update(dict.fromkeys(names, id))
    salts: dict[str, int] = {}
    services = open_twin_services(context)
    for part, wanted in itertools.groupby(clashing, key=clashing.__getitem__):
        ids = set(wanted)
        for item in read_items(items[part], ids):
            for salt in range(1, _MOST_SALTS):
                twins, _ = services.make_twins([item], {item.id: salt})
                world = twins[0].world if twins else ()
                names = [one.surrogate.casefold() for one in world if one.original and "." not in one.id]
                if not any(owners.get(name, item.id) != item.id for name in names):
                    owners.update(dict.fromkeys(names, item.id))
                    salts[item.id] = salt
                    break
    return salts


def finish_twins_of_part(spec: RewritePart) -> ShardOutput:
    """Reword and check the twins of one part."""
    drafts = read_items(spec.drafts)
    services = open_twin_services(spec.context)
    rejected = read_rejected(spec.rejected)
    if spec.salts:
        again = read_items(spec.items, spec.salts)
        renamed, lost = services.make_twins(again, spec.salts)
        by_item = {twin.twin: twin for twin in renamed}
        gone = {one.key for one in lost}
        drafts = [by_item.get(twin.twin, twin) for twin in drafts if twin.twin not in gone]
        rejected = [*rejected, *lost]
    translators = open_translators(spec.context) if spec.translate else None
    finished = finish_twins(
        services, drafts, translators, open_rewording_bounds(spec.context) if spec.translate else RewordingBounds()
    )
    outcomes = Counter(_translation_of(twin) for twin in finished.twins)
    figures = Counter({name: outcomes[outcome] for outcome, name in _NAMES.items()} if spec.translate else {})
    figures.update(count_texts(finished.returned))
    paid = [one.spent for one in finished.returned]
    return ShardOutput(
        items_to_table(finished.twins),
        [*rejected, *finished.rejected],
        taken=len(drafts) + len(rejected),
        figures=figures,
        skipped={"back-translation": outcomes["skip"]} if outcomes["skip"] else {},
        usage=ResourceUsage(
            input_tokens=sum(one.input_tokens for one in paid),
            output_tokens=sum(one.output_tokens for one in paid),
            cost_usd=round(sum(one.cost_usd for one in paid), 6),
        ),
    )


def find_translators(context: RewriteContext) -> tuple[str, str]:
    """The translators' names, or an empty one and why there is none. Raises InputError for a must that lacks."""
    mode = context.wanted.back_translation
    if mode == "off" or not context.wanted.enabled:
        return "", "switched off"
    if context.wanted.min_similarity and (obstacle := find_obstacle()):
        raise InputError(f"rewrite.min_similarity: {obstacle}")
    if mode == "llm":
        model = context.wanted.translation_model
        return ", ".join(f"{model} {chain}" for chain in context.wanted.pivots), ""
    translators = open_translators(context)
    obstacles = [obstacle for one in translators if (obstacle := one.find_obstacle())]
    if obstacles and mode != "auto":
        raise InputError(f"back-translation: {obstacles[0]}")
    return ("", obstacles[0]) if obstacles else (", ".join(one.name for one in translators), "")


def open_translators(context: RewriteContext) -> list[BackTranslator]:
    """The translators that the parameters ask for, in the order in which they are tried."""
    wanted = context.wanted
    if wanted.back_translation == "llm":
        assert context.access is not None
        session = open_models(context.access)
        prompt, target = load_prompts()["translate"], parse_model(wanted.translation_model)
        return [
            ModelBackTranslator(session, prompt, target, pivots=_split_chain(chain), tries=wanted.tries)
            for chain in wanted.pivots
        ]
    if wanted.back_translation == "marian":
        return [MarianBackTranslator([Path(folder).expanduser() for folder in wanted.weights], tries=wanted.tries)]
    return [ApertiumBackTranslator()]


def open_rewording_bounds(context: RewriteContext) -> RewordingBounds:
    """The bounds that the parameters set."""
    wanted = context.wanted
    judge = None
    if wanted.judge_model:
        assert context.access is not None
        judge = ModelJudge(
            open_models(context.access), load_prompts()["judge-entailment"], parse_model(wanted.judge_model)
        )
    return RewordingBounds(
        max_overlap=wanted.max_overlap,
        min_similarity=wanted.min_similarity,
        similarity=MiniLmSimilarity() if wanted.min_similarity else None,
        judge=judge,
    )


def list_translations(spec: RewritePart) -> Iterator[ApproximateRequest]:
    """About the requests of one part's back-translation: every leg of the first pivots, once."""
    wanted = spec.context.wanted
    if wanted.back_translation != "llm" or not spec.translate:
        return
    prompt, target = load_prompts()["translate"], parse_model(wanted.translation_model)
    path = (HOME, *_split_chain(wanted.pivots[0]), HOME)
    for twin in read_items(spec.drafts):
        names = sorted({one.surrogate for one in twin.world if any(map(str.isalpha, one.surrogate))})
        for text in list_pieces(twin):
            for source, end in itertools.pairwise(path):
                inputs = {"source_language": source, "target_language": end, "text": mask(text, names, "brackets").text}
                yield ApproximateRequest(prompt.request(inputs, target, seed=0))


def list_wordings(spec: PassagesPart) -> Iterator[ApproximateRequest]:
    """About the requests of one part's passages in a model's words."""
    prompt, target = load_prompts()["word-passage"], parse_model(spec.context.wanted.passage_model)
    for one in open_twin_services(spec.context).make_passage_builder().build_passages(read_items(spec.part)):
        for hop in one.item.hops:
            for passage in hop.evidence.passages:
                yield ApproximateRequest(
                    prompt.request({"title": passage.title, "facts": passage.text}, target, seed=0)
                )


def count_texts(returned: Iterable[ItemBackTranslation]) -> Counter[str]:
    """Figures over the texts of twins: how many were sent and reworded, masks, and both distributions."""
    figures = Counter[str]()
    for one in returned:
        for text in one.texts:
            figures.update(_count_text(text))
    return figures


@functools.lru_cache(maxsize=1)
def _load_twin_services(store: Path, seed: int, distractors: int) -> TwinServices:
    graph = open_graph(store)
    return TwinServices(graph, KindIndex(graph), default_table(), seed=seed, distractors=distractors)


def open_twin_services(context: RewriteContext) -> TwinServices:
    """What twins are made with, one for all shards of a worker."""
    return _load_twin_services(context.store, context.seed, context.wanted.distractor_passages)


def _open_passage_builder(context: RewriteContext) -> PassageBuilder:
    services, wanted = open_twin_services(context), context.wanted
    author = None
    if wanted.passages == "llm":
        assert context.access is not None
        author = ModelPassageAuthor(
            open_models(context.access), load_prompts()["word-passage"], parse_model(wanted.passage_model)
        )
    corpus = _open_corpus(context.store, Path(wanted.corpus).expanduser()) if wanted.passages == "corpus" else None
    return PassageBuilder(services.planner, services.names, services.table, author=author, corpus=corpus)


@functools.lru_cache(maxsize=1)
def _open_corpus(store: Path, path: Path) -> PassageCorpus:
    return PassageCorpus(open_graph(store), read_corpus(path))


def _split_chain(chain: str) -> tuple[str, ...]:
    return tuple(language.strip() for language in chain.split(",") if language.strip())


def _read_worlds(parts: Sequence[Path]) -> Iterator[tuple[int, str, list[str]]]:
    """(part, item, folded names of what stands for something) of every stage-one twin, two columns of the files."""
    for number, part in enumerate(parts):
        for item, world in read_columns(part, "twin", "world"):
            yield (
                number,
                item,
                [one["surrogate"].casefold() for one in world if one["original"] and "." not in one["id"]],
            )


def _count_text(text: TextBackTranslation) -> Iterator[str]:
    result = text.result
    yield "texts"
    if text.tries:
        yield "texts sent"
    yield from ["masks"] * result.masks
    yield from ["masks restored"] * result.restored
    if not text.by:
        yield f"kept: {_class_of(result.reason)}"
        return
    yield "texts reworded"
    yield name_bin("overlap", result.overlap)
    if text.similarity is not None:
        yield name_bin("similarity", text.similarity)


def _class_of(reason: str) -> str:
    """A reason without what is particular to one text."""
    for sign, name in (
        ("came back unchanged", "unchanged"),
        ("known paraphrase", "not sent: no word has a known paraphrase"),
        ("keeps meaning and grammar", "no edit that is known to be safe"),
        ("times", "a mask was lost or doubled"),
        ("mask", "a mask was broken"),
        ("pivot", "a word of the pivot language was left"),
        ("too much stayed", "too much of the wording stayed"),
        ("similarity", "meaning: too little similarity"),
        ("meaning", "meaning: the judge says no"),
        ("no question", "no question any more"),
    ):
        if sign in reason:
            return name
    return "other"


def _translation_of(twin: Item) -> str:
    return next((check.outcome for check in twin.checks if check.name == _CHECK), "skip")

"""What the shards of the stage rewrite share, opened once per worker: services, translators, bounds, passages."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from hopwright.counterfactual.apertium import ApertiumBackTranslator
from hopwright.counterfactual.authors import ModelPassageAuthor
from hopwright.counterfactual.back_translation import RewordingBounds
from hopwright.counterfactual.marian import MarianBackTranslator
from hopwright.counterfactual.meaning import MiniLmSimilarity, ModelJudge
from hopwright.counterfactual.model_translation import ModelBackTranslator
from hopwright.counterfactual.passage_builder import PassageBuilder
from hopwright.counterfactual.rewriting import TwinServices
from hopwright.counterfactual.translating import BackTranslator
from hopwright.errors import InputError
from hopwright.knowledge.documents.corpus import PassageCorpus, read_corpus
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import parse_model
from hopwright.runs import RunFolder
from hopwright.settings import RewriteParameters, RewriteRun
from hopwright.stages.models import ModelAccess, grant_access, open_models
from hopwright.stages.resources import find_store, open_graph
from hopwright.text.embeddings import find_obstacle


@dataclass(frozen=True, slots=True)
class RewriteContext:
    """What all shards of the stage share: graph, seed, parameters, and the leave to ask models where they do."""

    store: Path
    seed: int
    wanted: RewriteParameters
    access: ModelAccess | None = None


def make_rewrite_context(run: RunFolder, parameters: RewriteRun) -> RewriteContext:
    """What every shard of the stage needs. Raises InputError for a model that cannot be asked."""
    wanted = parameters.rewrite
    asked = {
        wanted.passage_model if wanted.passages == "llm" else "",
        wanted.translation_model if wanted.back_translation == "llm" and wanted.enabled else "",
        wanted.judge_model,
        *wanted.memory_voters,
    } - {""}
    access = grant_access(run, parameters, sorted(asked)) if asked else None
    return RewriteContext(find_store(run), parameters.seed, wanted, access)


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
            ModelBackTranslator(session, prompt, target, pivots=split_chain(chain), tries=wanted.tries)
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


def open_twin_services(context: RewriteContext) -> TwinServices:
    """What twins are made with, one for all shards of a worker."""
    return _load_twin_services(context.store, context.seed, context.wanted.distractor_passages)


def open_passage_builder(context: RewriteContext) -> PassageBuilder:
    """Return what gives items their passages: rules, a model or a corpus, as the parameters say."""
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
def _load_twin_services(store: Path, seed: int, distractors: int) -> TwinServices:
    graph = open_graph(store)
    return TwinServices(graph, KindIndex(graph), default_table(), seed=seed, distractors=distractors)


@functools.lru_cache(maxsize=1)
def _open_corpus(store: Path, path: Path) -> PassageCorpus:
    return PassageCorpus(open_graph(store), read_corpus(path))


def split_chain(chain: str) -> tuple[str, ...]:
    """Return the pivot languages of a chain such as `German, Spanish`."""
    return tuple(language.strip() for language in chain.split(",") if language.strip())

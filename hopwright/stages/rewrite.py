"""The stage rewrite: items → items with passages → counterfactual twins, first renamed, then reworded and checked."""

from __future__ import annotations

import itertools
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hopwright.counterfactual.back_translation import ItemBackTranslation, RewordingBounds, TextBackTranslation
from hopwright.counterfactual.back_translation import list_texts as list_pieces
from hopwright.counterfactual.model_translation import HOME
from hopwright.counterfactual.report import name_bin
from hopwright.counterfactual.rewording_checks import mask
from hopwright.counterfactual.rewriting import finish_twins
from hopwright.errors import InputError
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import parse_model
from hopwright.records import Item, Rejected
from hopwright.records.arrow import ITEM_SCHEMA, items_to_table, read_columns, read_items, read_parquet, read_rejected
from hopwright.runs import RunFolder, ShardOutput, Stage, rejected_path
from hopwright.runs.manifest import ResourceUsage
from hopwright.settings import BuildParameters, RewriteRun
from hopwright.stages.plan import StagePlan, StageSpec, StageStep, is_finished, pick_parameters, require_paths
from hopwright.stages.rewrite_context import (
    RewriteContext,
    find_translators,
    make_rewrite_context,
    open_passage_builder,
    open_rewording_bounds,
    open_translators,
    open_twin_services,
    split_chain,
)
from hopwright.stages.workers import current_pool

PASSAGES = "rewrite/passages"
DRAFTS = "rewrite/drafts"
_CHECK = "back_translation"
_NAMES = {"pass": "questions reworded", "fail": "questions kept: the new wording failed a check"}
_MOST_SALTS = 20
_NONE_FITS = -1
"""The salt of an item whose twin stays the same as another's, however it is drawn."""


@dataclass(frozen=True, slots=True)
class PassagesPart:
    """One part of items, to be given passages."""

    part: Path
    context: RewriteContext


@dataclass(frozen=True, slots=True)
class DraftsPart:
    """One part of items with passages, to be given stage-one twins."""

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
    built = open_passage_builder(spec.context).build_passages(items)
    figures = Counter[str]()
    for one in built:
        figures["passages by rules"] += one.rules
        figures["passages by a model or from the corpus"] += one.other
        figures["items with a passage that fell back on rules"] += any(
            check.name == "passages" and check.outcome == "fail" for check in one.item.checks
        )
    paid = [one.spent for one in built]
    return ShardOutput(
        items_to_table(one.item for one in built),
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
    """The items whose twins must be made again because another twin has a name or the id of theirs, each with its salt.

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
                names += [twins[0].id] if twins else []
                if not any(owners.get(name, item.id) != item.id for name in names):
                    owners.update(dict.fromkeys(names, item.id))
                    salts[item.id] = salt
                    break
            else:
                salts[item.id] = _NONE_FITS
    return salts


def finish_twins_of_part(spec: RewritePart) -> ShardOutput:
    """Reword and check the twins of one part."""
    drafts = read_items(spec.drafts)
    services = open_twin_services(spec.context)
    rejected = read_rejected(spec.rejected)
    if spec.salts:
        salts = {id: salt for id, salt in spec.salts.items() if salt != _NONE_FITS}
        again = read_items(spec.items, spec.salts)
        renamed, lost = services.make_twins([item for item in again if item.id in salts], salts)
        lost += [
            Rejected(
                key=item.id,
                check="twin_ambiguous",
                reason="the twin of another item is the same",
                row=item.model_dump_json(),
            )
            for item in again
            if item.id not in salts
        ]
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


def list_translations(spec: RewritePart) -> Iterator[ApproximateRequest]:
    """About the requests of one part's back-translation: every leg of the first pivots, once."""
    wanted = spec.context.wanted
    if wanted.back_translation != "llm" or not spec.translate:
        return
    prompt, target = load_prompts()["translate"], parse_model(wanted.translation_model)
    path = (HOME, *split_chain(wanted.pivots[0]), HOME)
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


def _read_worlds(parts: Sequence[Path]) -> Iterator[tuple[int, str, list[str]]]:
    """(part, item, folded names of what stands for something) of every stage-one twin, two columns of the files."""
    for number, part in enumerate(parts):
        for id, item, world in read_columns(part, "id", "twin", "world"):
            names = [one["surrogate"].casefold() for one in world if one["original"] and "." not in one["id"]]
            # Plans that name nothing but years may come to the same.
            yield number, item, [*names, id]


def _count_text(text: TextBackTranslation) -> Iterator[str]:
    result = text.result
    yield "texts"
    if text.tries:
        yield "texts sent"
    yield from ["masks"] * result.masks
    yield from ["masks restored"] * result.restored
    if not text.by:
        yield f"kept: {result.cause}"
        return
    yield "texts reworded"
    yield name_bin("overlap", result.overlap)
    if text.similarity is not None:
        yield name_bin("similarity", text.similarity)


def _translation_of(twin: Item) -> str:
    return next((check.outcome for check in twin.checks if check.name == _CHECK), "skip")


def plan_passages(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """One shard per part of the filter stage: every item comes out, with its evidence passages."""
    items = Stage(run, "filter")
    context = make_rewrite_context(run, parameters)
    return StagePlan(
        name=PASSAGES,
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs=items.output_hashes(),
        process=add_passages_to_part,
        specs=[PassagesPart(part, context) for part in items.parts()],
        access=context.access if parameters.rewrite.passages == "llm" else None,
        requests=list_wordings if parameters.rewrite.passages == "llm" else None,
        skipped={} if parameters.rewrite.passages != "off" else {"passages are turned off": items.read().counts.out},
    )


def plan_twins(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """Stage one: a twin per item; none when twins are turned off."""
    items = Stage(run, PASSAGES)
    context = make_rewrite_context(run, parameters)
    return StagePlan(
        name=DRAFTS,
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs=items.output_hashes(),
        process=make_twins_of_part,
        specs=[DraftsPart(part, context) for part in items.parts()] if parameters.rewrite.enabled else [],
    )


def plan_rewrite(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """Stage two: twins with names of their own, reworded and checked; what stage one rejected is counted here, too."""
    items, drafts = Stage(run, PASSAGES), Stage(run, DRAFTS)
    wanted = parameters.rewrite
    context = make_rewrite_context(run, parameters)
    translators, obstacle = current_pool().run(find_translators, context)
    parts = drafts.parts()
    salts = current_pool().run(resolve_name_collisions, parts, items.parts(), context) if parts else {}
    return StagePlan(
        name="rewrite",
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs={**items.output_hashes(), **drafts.output_hashes()},
        process=finish_twins_of_part,
        specs=[
            RewritePart(part, rejected_path(drafts.folder, index), whole, context, bool(translators), salts)
            for index, (part, whole) in enumerate(zip(parts, items.parts(), strict=False))
        ],
        notes={
            "back_translation": translators,
            "back_translation_skipped": obstacle,
            "renamed_because_names_met": len(salts),
        },
        skipped={} if wanted.enabled else {"twins are turned off": items.read().counts.out},
        access=context.access if wanted.back_translation == "llm" or wanted.judge_model else None,
        requests=list_translations if wanted.back_translation == "llm" else None,
    )


def plan_estimate(run: RunFolder, parameters: RewriteRun) -> StagePlan:
    """What stage two would ask of models, for an estimate: from the items themselves where no twin was made yet."""
    if Stage(run, DRAFTS).manifest_path.exists():
        return plan_rewrite(run, parameters)
    items = Stage(run, "filter")
    context = make_rewrite_context(run, parameters)
    return StagePlan(
        name="rewrite",
        unit="items",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs=items.output_hashes(),
        specs=[RewritePart(part, part, part, context, translate=True) for part in items.parts()],
        requests=list_translations,
    )


def list_models(parameters: BuildParameters) -> list[str]:
    """Return the models that a whole run would have the stage ask at endpoints."""
    wanted = parameters.rewrite
    twins = [*wanted.memory_voters] if wanted.memory_items else []
    if wanted.back_translation == "llm":
        twins.append(wanted.translation_model)
    if wanted.judge_model and wanted.back_translation != "off":
        twins.append(wanted.judge_model)
    return [*([wanted.passage_model] if wanted.passages == "llm" else []), *(twins if wanted.enabled else [])]


def _check(run: RunFolder, parameters: BuildParameters) -> None:
    """Look for the files and programs that the stage will need."""
    wanted = parameters.rewrite
    if is_finished(run, "rewrite"):
        return
    if wanted.passages == "corpus":
        require_paths([("rewrite.corpus", wanted.corpus)])
    if wanted.enabled and wanted.back_translation == "marian":
        require_paths([("rewrite.weights", folder) for folder in wanted.weights])
    if wanted.enabled and wanted.back_translation == "apertium" and shutil.which("apertium") is None:
        raise InputError("rewrite.back_translation: apertium is not installed; choose auto or another way")


STAGE = StageSpec(
    name="rewrite",
    parameters=RewriteRun,
    needs=("filter",),
    steps=(StageStep("rewrite", "items", "items with a twin", finish_twins_of_part),),
    models=list_models,
    check=_check,
)

"""The rewrite stage on a shard: stage one makes twins, stage two rewords and checks them (CofCA, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopwright.checks import CheckContext, failures, run_checks
from hopwright.counterfactual.back_translation import (
    NO_REWORDING_BOUNDS,
    BackTranslator,
    ItemBackTranslation,
    RewordingBounds,
    apply_back_translation,
    back_translate,
)
from hopwright.counterfactual.passage_builder import PassageBuilder
from hopwright.counterfactual.passage_context import PassageContextReader, find_unanswered
from hopwright.counterfactual.passage_rewriting import PassageRewriter
from hopwright.counterfactual.passage_writer import PassageWriter
from hopwright.counterfactual.passages import PassagePlanner
from hopwright.counterfactual.real_names import find_real_wording
from hopwright.counterfactual.renamed_entities import list_texts
from hopwright.counterfactual.surrogate_names import is_generic_name
from hopwright.counterfactual.twins import TwinMaker
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import CheckResult, Item, Rejected
from hopwright.text.mentions import count_letters, find_leftover


class TwinServices:
    """What twins of one graph are made with. Worth keeping between shards, for its caches; it remembers no item.

    distractors: passages per hop that answer nothing.
    """

    def __init__(
        self, graph: GraphStore, kinds: KindIndex, table: PropertyTable, *, seed: int, distractors: int = 1
    ) -> None:
        self.graph = graph
        self.names = GraphNames(kinds)
        self.table = table
        self.seed = seed
        # The spread over domains was settled for the originals, and twins have the same.
        self.context = CheckContext(table=table, graph=graph, min_domains=1)
        self.source = WikidataSource(graph, table, kinds)
        self.traversals = GraphTraversals(self.source)
        self.planner = PassagePlanner(self.traversals, seed=seed, distractors=distractors)
        self.passages = PassageRewriter(graph, self.names, seed=seed)
        self._reader = PassageContextReader(self.planner, PassageWriter(table), self.names, self.passages)
        self._maker = TwinMaker(graph, self.names, table, seed=seed)

    def make_passage_builder(self) -> PassageBuilder:
        """Gives items their passages by rule."""
        return PassageBuilder(self.planner, self.names, self.table)

    def make_twins(
        self, items: Sequence[Item], salts: Mapping[str, int] | None = None
    ) -> tuple[list[Item], list[Rejected]]:
        """Stage one: the twins of items, and why the others have none; twins + rejected = items, in the items' order.

        salts: item → what makes its names others than those of 0. Order and company of the items have no influence.
        """
        made: list[Item] = []
        rejected: list[Rejected] = []
        for item in items:
            outcome = self._maker.make_twin(item, self._reader.read(item), salt=(salts or {}).get(item.id, 0))
            if isinstance(outcome, Item):
                made.append(outcome)
            else:
                rejected.append(outcome)
        return made, rejected

    def check(self, twin: Item) -> tuple[Item, CheckResult | None]:
        """The twin with the results of all checks before its own, and the first that failed."""
        results = run_checks(twin, self.context)
        checked = twin.model_copy(update={"checks": (*results, *twin.checks)})
        return checked, next(iter(failures(results)), None)


@dataclass(frozen=True, slots=True)
class FinishedTwins:
    """Stage two on a shard. returned: what came back, by twin, those that were rejected in the end included."""

    twins: list[Item]
    rejected: list[Rejected]
    returned: list[ItemBackTranslation]


def finish_twins(
    services: TwinServices,
    made: Sequence[Item],
    translator: BackTranslator | Sequence[BackTranslator] | None,
    gates: RewordingBounds = NO_REWORDING_BOUNDS,
) -> FinishedTwins:
    """Stage two: back-translate and check. What a rewording breaks goes back to the words of stage one, and says so.

    Every twin carries the results of all checks that apply to it, among them `back_translation`: pass (reworded), fail
    (a rewording was refused, and why) or skip (there was none, and why).
    """
    if translator is None:
        returned = [ItemBackTranslation(skipped="switched off")] * len(made)
    else:
        returned = back_translate(made, translator, gates)
    twins: list[Item] = []
    rejected: list[Rejected] = []
    for stage_one, back in zip(made, returned, strict=True):
        stage_two = apply_back_translation(stage_one, back)
        twin, failed = services.check(stage_two)
        reworded = bool(stage_two.provenance.back_translation)
        why = f"{failed.name}: {failed.reason}" if failed is not None else ""
        if reworded and not why:
            why = _find_loss(stage_two, services.graph, services.table)
        if why and reworded:
            note = CheckResult(name="back_translation", outcome="fail", reason=why)
            plain = stage_two.provenance.model_copy(update={"back_translation": ""})
            kept = stage_one.model_copy(update={"checks": (*stage_one.checks, note), "provenance": plain})
            twin, failed = services.check(kept)
        if failed is None:
            twins.append(twin)
        else:
            key, row = twin.twin or twin.id, twin.model_dump_json()
            rejected.append(Rejected(key=key, check=failed.name, reason=failed.reason, row=row))
    return FinishedTwins(twins, rejected, returned)


def find_real_names(twin: Item, graph: GraphStore) -> str:
    """A name of at least four letters that a replaced entity has in the graph and that the twin still holds, or empty.

    Aliases that are one class word ("Lake") name no one.
    """
    names: dict[str, None] = {}
    for one in twin.world:
        if "." in one.id:
            continue
        for name in (one.original, *(graph.aliases(one.id) if one.id else ())):
            if count_letters(name) >= 4 and (name == one.original or not is_generic_name(name)):
                names[name] = None
    return find_leftover(list_texts(twin), names) or ""


def _find_loss(twin: Item, graph: GraphStore, table: PropertyTable) -> str:
    """What a rewording lost or brought back; empty when nothing."""
    if lost := find_unanswered(twin):
        return f"passages: {lost}"
    if left := find_real_names(twin, graph) or find_real_wording(twin, table):
        return f"{left!r} is there again"
    return ""

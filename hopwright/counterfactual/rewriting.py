"""The rewrite stage: twins for a shard of items, back-translated and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hopwright.counterfactual.back_translation import BackTranslator, adopt, back_translate
from hopwright.counterfactual.twins import TwinMaker
from hopwright.records import CheckResult, Item, Rejected
from hopwright.synthesis.checks import CheckContext, failures, run_checks
from hopwright.synthesis.names import GraphNames

if TYPE_CHECKING:
    from hopwright.graph.store import GraphStore
    from hopwright.synthesis.kinds import KindIndex
    from hopwright.synthesis.properties import PropertyTable


def rewrite_items(
    items: Sequence[Item],
    graph: GraphStore,
    kinds: KindIndex,
    table: PropertyTable,
    seed: int,
    translator: BackTranslator | None = None,
) -> tuple[list[Item], list[Rejected]]:
    """Make the twins of items (those that pass every check), and say why the others have none.

    Twins + rejected = items. Every twin carries the results of all checks that apply to it, among them
    `back_translation`, which is a skip without a translator. Order and company of the items have no influence.
    """
    maker = TwinMaker(graph, GraphNames(kinds), table, seed=seed)
    context = CheckContext(table=table, graph=graph, min_domains=1)
    made: list[Item] = []
    rejected: list[Rejected] = []
    for item in items:
        outcome = maker.make_twin(item)
        if isinstance(outcome, Rejected):
            rejected.append(outcome)
        else:
            made.append(outcome)
    twins: list[Item] = []
    for stage_one, stage_two in zip(made, _reword(made, translator), strict=True):
        twin = _check(stage_two, context)
        failed = failures(twin.checks[: -len(stage_two.checks)])
        if failed and stage_two.provenance.back_translation:
            note = CheckResult(name="back_translation", outcome="fail", reason=f"{failed[0].name}: {failed[0].reason}")
            stage_two = stage_one.model_copy(update={"checks": (*stage_one.checks, note)})
            twin = _check(stage_two, context)
            failed = failures(twin.checks[: -len(stage_two.checks)])
        if failed:
            row = twin.model_dump_json()
            rejected.append(Rejected(key=twin.twin or twin.id, check=failed[0].name, reason=failed[0].reason, row=row))
        else:
            twins.append(twin)
    return twins, rejected


def _reword(twins: Sequence[Item], translator: BackTranslator | None) -> list[Item]:
    if translator is None:
        note = CheckResult(name="back_translation", outcome="skip", reason="switched off")
        return [twin.model_copy(update={"checks": (*twin.checks, note)}) for twin in twins]
    returned = back_translate(twins, translator)
    return [adopt(twin, one, translator.name) for twin, one in zip(twins, returned, strict=True)]


def _check(twin: Item, context: CheckContext) -> Item:
    return twin.model_copy(update={"checks": (*run_checks(twin, context), *twin.checks)})

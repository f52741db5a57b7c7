"""The rewrite stage: twins for a shard of items, back-translated and checked."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.counterfactual.back_translation import BackTranslator, adopt, back_translate
from hopwright.counterfactual.twins import TwinMaker
from hopwright.graph.store import GraphStore
from hopwright.records import CheckResult, Item, Rejected
from hopwright.synthesis.checks import CheckContext, failures, run_checks
from hopwright.synthesis.kinds import KindIndex
from hopwright.synthesis.names import GraphNames
from hopwright.synthesis.properties import PropertyTable


class Rewriter:
    """Turns items into checked twins. Worth keeping between shards, for its caches; it remembers no item."""

    def __init__(
        self,
        graph: GraphStore,
        kinds: KindIndex,
        table: PropertyTable,
        *,
        seed: int,
        translator: BackTranslator | None = None,
    ) -> None:
        self._maker = TwinMaker(graph, GraphNames(kinds), table, seed=seed)
        # The spread over domains was settled for the originals, and twins have the same.
        self._context = CheckContext(table=table, graph=graph, min_domains=1)
        self._translator = translator

    def rewrite(self, items: Sequence[Item]) -> tuple[list[Item], list[Rejected]]:
        """Make the twins of items (those that pass every check), and say why the others have none.

        Twins + rejected = items, both in the items' order. Every twin carries the results of all checks that apply to
        it, among them `back_translation`: pass (reworded), fail (kept its stage-one question, and why) or skip
        (nothing could be translated, and why). Order and company of the items have no influence.
        """
        made: list[Item] = []
        rejected: list[Rejected] = []
        for item in items:
            outcome = self._maker.make_twin(item)
            if isinstance(outcome, Rejected):
                rejected.append(outcome)
            else:
                made.append(outcome)
        twins: list[Item] = []
        for stage_one, stage_two in zip(made, self._reword(made), strict=True):
            twin, failed = self._check(stage_two)
            if failed is not None and stage_two.provenance.back_translation:
                why = f"{failed.name}: {failed.reason}"
                note = CheckResult(name="back_translation", outcome="fail", reason=why)
                twin, failed = self._check(_add(stage_one, note))
            if failed is None:
                twins.append(twin)
            else:
                key, row = twin.twin or twin.id, twin.model_dump_json()
                rejected.append(Rejected(key=key, check=failed.name, reason=failed.reason, row=row))
        return twins, rejected

    def _reword(self, twins: Sequence[Item]) -> list[Item]:
        if self._translator is None:
            note = CheckResult(name="back_translation", outcome="skip", reason="switched off")
            return [_add(twin, note) for twin in twins]
        returned = back_translate(twins, self._translator)
        return [adopt(twin, one, self._translator.name) for twin, one in zip(twins, returned, strict=True)]

    def _check(self, twin: Item) -> tuple[Item, CheckResult | None]:
        """The twin with the results of all checks before its own, and the first that failed."""
        results = run_checks(twin, self._context)
        checked = twin.model_copy(update={"checks": (*results, *twin.checks)})
        return checked, next(iter(failures(results)), None)


def rewrite_items(
    items: Sequence[Item],
    graph: GraphStore,
    kinds: KindIndex,
    table: PropertyTable,
    seed: int,
    translator: BackTranslator | None = None,
) -> tuple[list[Item], list[Rejected]]:
    """Rewrite one lot of items (see `Rewriter.rewrite`)."""
    return Rewriter(graph, kinds, table, seed=seed, translator=translator).rewrite(items)


def _add(twin: Item, note: CheckResult) -> Item:
    return twin.model_copy(update={"checks": (*twin.checks, note)})

"""What is chosen from a list is not the one that everybody thinks of."""

from __future__ import annotations

from hopwright.knowledge.facts import GraphFacts, read_renown
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.idle_choices import chooses_best_known
from hopwright.planning.plan import Plan, PlanStep
from hopwright.records import Compute, Lookup, ReverseLookup
from tests.drafts import draft_items

TABLE = default_table()
CHOSEN = "argmin(P577, all(P990207, Q9))"


def rate(*works: float) -> tuple[Plan, dict[str, float]]:
    """A plan that chooses the first work of a list, and how well known the works of the list are."""
    chosen = PlanStep(Compute(expression=CHOSEN, kind="comparison"), "Q1", "entity")
    return Plan("chain", (chosen, PlanStep(Lookup(subject="hop1", property="P58"), "Q8", "entity"))), {
        f"Q{number}": one for number, one in enumerate(works, 1)
    }


class ListFacts:
    def subjects(self, property: str, value: str) -> tuple[str, ...]:
        return ("Q9",) if (property, value) == ("P990207", "Q1") else ()

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        return ("Q1", "Q2", "Q3") if (subject, property) == ("Q9", "P990207") else ()


def test_a_work_is_not_chosen_that_is_clearly_the_best_known() -> None:
    cases = [(True, (2.0, 1.0, 1.0)), (False, (2.0, 1.5, 1.0)), (False, (2.0, 4.0, 1.0)), (False, (0.0, 0.0, 0.0))]
    for known, works in cases:
        plan, renown = rate(*works)
        assert chooses_best_known(plan, ListFacts(), TABLE, renown.__getitem__) is known  # type: ignore[arg-type]


def test_no_draft_chooses_one(sample: GraphStore) -> None:
    facts = GraphFacts(sample, TABLE)
    renown = {}
    for item in draft_items(sample):
        steps = tuple(
            PlanStep(hop.derivation, hop.answer_id or "", hop.answer_type)
            for hop in item.hops
            if isinstance(hop.derivation, Lookup | ReverseLookup | Compute)
        )
        for hop in item.hops:
            for listed in TABLE.lists:
                for owner in facts.subjects(listed, hop.answer_id or ""):
                    for one in facts.objects(owner, listed):
                        renown[one] = read_renown(sample, TABLE.roles.renown, one)
        assert not chooses_best_known(Plan(item.topology, steps), facts, TABLE, renown.__getitem__), item.question

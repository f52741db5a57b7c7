from __future__ import annotations

import pytest

from hopwright.counterfactual.twins import TwinMaker
from hopwright.knowledge.wikidata.properties import default_table
from tests.builders import LABEL
from tests.worlds import DictGraph

KIND = {"Q901": "work", "Q906": "work", "Q902": "person", "Q907": "person", "Q903": "country", "Q905": "country",
        "Q909": "country", "Q904": "place", "Q908": "place", "Q910": "place"}  # fmt: skip


class TinyNames:
    """The writer's Names for the builders' world."""

    def phrase(self, entity: str) -> str:
        return LABEL[entity]

    def noun(self, entity: str) -> str:
        return {"work": "film", "place": "city"}.get(self.kind(entity), self.kind(entity))

    def kind(self, entity: str):
        return KIND.get(entity, "other")


def make_maker(seed: int = 0, graph: DictGraph | None = None) -> TwinMaker:
    return TwinMaker(graph or DictGraph(), TinyNames(), default_table(), seed=seed)


@pytest.fixture
def tiny_maker() -> TwinMaker:
    return make_maker()

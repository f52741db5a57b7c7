"""A few items at once, without a run: for a preview on the command line, and for notebooks (docs/notebook.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hopwright.checks import run_checks
from hopwright.knowledge.wikidata.sources import find_corpus
from hopwright.llm.asking import RequestSender
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.types import Request
from hopwright.planning.plan import Plan
from hopwright.planning.planner import NoPlanError
from hopwright.records import CheckResult, Item, Rejected
from hopwright.runs.files import hash_file
from hopwright.settings import SynthesizeParameters, home, sample_folder
from hopwright.stages.drafting import open_synthesizer, write_target_distribution
from hopwright.stages.models import ModelAccess
from hopwright.stages.retrieve import ingest_corpus, name_store
from hopwright.stages.wording import WordingShard, list_asked, make_writer

_MOST_SLOTS = 60
"""Slots that are tried for each item that is wanted."""


class Workbench:
    """Plans, words and checks items of one graph in this process, and writes no file.

    `store` is the folder of a graph store; None takes that of the sample that ships with Hopwright, which is made
    where it is missing. Plans are drawn without the pilots of a run: the shares of a run's targets are not kept.
    The same seed gives the same items.
    """

    def __init__(
        self, store: Path | None = None, *, seed: int = 0, parameters: SynthesizeParameters | None = None
    ) -> None:
        self.store = store or make_sample_store()
        self.parameters = parameters or SynthesizeParameters()
        self.seed = seed
        self.rejected: list[Rejected] = []
        """What could not be worded, or failed a check, with the reason."""
        self._synthesizer = open_synthesizer(self.store, seed, write_target_distribution(self.parameters))

    def plan(self, number: int = 5) -> list[Plan]:
        """Draw so many proven plans, fewer where the graph gives no more."""
        drawn = self._draw(number)
        return [plan for plan, _ in zip(drawn, range(number), strict=False)]

    def word(self, plans: Sequence[Plan]) -> list[Item]:
        """Put plans into the rules' words, each with sub-questions and options; `rejected` keeps what cannot be."""
        return self._sort(map(self._synthesizer.compose, plans))

    def check(self, items: Sequence[Item]) -> dict[str, list[CheckResult]]:
        """Run every automatic check; the results by item."""
        return {item.id: list(run_checks(item, self._synthesizer.context)) for item in items}

    def make(self, number: int = 5, *, tell: Callable[[Item], None] | None = None) -> list[Item]:
        """Plan, word and check until so many items pass every check; `tell` is called with each as it comes."""
        made: list[Item] = []
        for plan in self._draw(number):
            for item in self.word([plan]):
                if any(one.id == item.id for one in made):
                    continue
                checks = tuple(self.check([item])[item.id])
                failed = next((check for check in checks if check.outcome == "fail"), None)
                if failed is not None:
                    self.rejected.append(Rejected(key=item.id, check=failed.name, reason=failed.reason))
                    continue
                made.append(item.model_copy(update={"checks": checks}))
                if tell is not None:
                    tell(made[-1])
            if len(made) == number:
                break
        return made

    def list_requests(self, items: Sequence[Item], access: ModelAccess) -> list[Request | ApproximateRequest]:
        """What the models of the parameters would be asked first to word the items, and about what to read them."""
        return list(list_asked(self._commission(access), items))

    def reword(self, items: Sequence[Item], access: ModelAccess, asker: RequestSender) -> list[Item]:
        """Have the model of the parameters word the items; `rejected` keeps those whose wording does not fit."""
        return self._sort(one.result for one in make_writer(self._commission(access), asker).word(items))

    def _draw(self, number: int) -> Iterator[Plan]:
        for slot in range(number * _MOST_SLOTS):
            try:
                yield self._synthesizer.sketch(slot)
            except NoPlanError:
                continue

    def _sort(self, results: Iterator[Item | Rejected]) -> list[Item]:
        items = []
        for one in results:
            if isinstance(one, Item):
                items.append(one)
            else:
                self.rejected.append(one)
        return items

    def _commission(self, access: ModelAccess) -> WordingShard:
        return WordingShard(self.store, self.seed, self.parameters, (), access)


def make_sample_store() -> Path:
    """The graph store of the shipped sample, made in Hopwright's home where no run has made it yet."""
    inputs = {path.name: hash_file(path) for path in find_corpus(sample_folder()).paths}
    store = home() / "stores" / name_store(inputs)
    ingest_corpus(sample_folder(), store)
    return store

"""From a model's answer to an item: read against the plan, put on the draft, checked again as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hopwright.checks import CheckContext, run_checks
from hopwright.distractors.hop_task import OptionShortage, Reader, find_reader
from hopwright.distractors.maker import DistractorMaker
from hopwright.distractors.options import assign_options
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.similar_entities import EntityKindSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.answers import WordedHop, WordedItem
from hopwright.planning.execution import stated_value
from hopwright.records import CheckResult, Hop, Item
from hopwright.records.values import Value, parse
from hopwright.wording.llm.contexts import ContextChecker, add_context
from hopwright.wording.llm.problems import WordingProblem
from hopwright.wording.llm.proposals import ProposalSorter
from hopwright.wording.llm.text_constraints import PlanEntity, TextConstraintBuilder, TextConstraints, spell
from hopwright.wording.llm.vocabulary import Vocabulary
from hopwright.wording.llm.wording_checks import WordingChecker
from hopwright.wording.marks import MarkError, read_marks

_SAME_AS = {
    "names-kept": ("entities", "numbers"),
    "inputs-shown": ("entities", "numbers"),
    "leakage": ("leakage",),
    "self-answer": ("leakage",),
}
"""Checks that see what the reading sees as well: such a fault is counted once."""
FORGIVEN = frozenset({"context", "true_distractor"})
"""Faults that cost no further request: the context is left out, the rules' distractors stay."""
_FIRST = (
    "extra_hop",
    "leakage",
    "entities",
    "numbers",
    "structure",
    "missing_hop",
    "direction",
    "precision",
    "units",
    "enumeration",
)
"""Which of several faults an answer is counted under; after these come style and the failed checks."""


@dataclass(frozen=True, slots=True)
class EditResult:
    """What an answer came to: the item in its new words, and everything that was wrong with the answer."""

    item: Item
    problems: tuple[WordingProblem, ...]
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def fault(self) -> str:
        """The fault that the answer is counted under; empty where the item may be kept as it is."""
        kinds = [problem.kind for problem in self.problems if problem.kind not in FORGIVEN]
        return next((kind for kind in _FIRST if kind in kinds), kinds[0] if kinds else "")

    @property
    def only_hints(self) -> bool:
        """Whether nothing is wrong but that no known words say something."""
        return all(problem.hint for problem in self.problems if problem.kind not in FORGIVEN)

    @property
    def remarks(self) -> frozenset[str]:
        """The faults that cost nothing further."""
        return FORGIVEN & {problem.kind for problem in self.problems}


class Editor:
    """Edits drafts of one graph. The same draft and answer give the same item."""

    def __init__(
        self,
        graph: GraphStore,
        table: PropertyTable,
        kinds: EntityKindSource,
        context: CheckContext,
        maker: DistractorMaker,
        *,
        seed: int,
    ) -> None:
        self._seed = seed
        vocabulary = Vocabulary(table)
        self.places = TextConstraintBuilder(vocabulary, graph)
        self._reader = WordingChecker(vocabulary, self.places)
        self._contexts = ContextChecker(table)
        self._context = context
        self._maker = maker
        self._proposals = ProposalSorter(graph, kinds, context)

    def edit(self, draft: Item, answer: WordedItem) -> EditResult:
        """Hold an answer against the plan and put it on the draft."""
        if [hop.index for hop in answer.sub_questions] != [hop.index for hop in draft.hops]:
            wanted = ", ".join(str(hop.index) for hop in draft.hops)
            return EditResult(
                draft, (WordingProblem("structure", f"there must be one sub-question for each hop: {wanted}"),)
            )
        names, places = self.places.names(draft), self.places.lay_out(draft)
        questions = [spell(" ".join(hop.question.split()), names.values()) for hop in answer.sub_questions]
        marked = spell(" ".join(answer.question.split()), names.values())
        try:
            whole = read_marks(marked).text
            # A draft that was worded before there were marks is read by its words.
            problems = self._reader.read(draft, questions, whole, places, marked if draft.marked else "")
        except MarkError as error:
            return EditResult(draft, (WordingProblem("structure", f"the marks of the whole question: {error}"),))
        worded = tuple(
            hop.model_copy(update={"question": question}) for hop, question in zip(draft.hops, questions, strict=True)
        )
        counts = Counter[str]()
        hops, remarks = self._add_contexts(draft, worded, answer.sub_questions, places, names, counts)
        item = draft.model_copy(
            update={
                "hops": hops,
                "question": whole,
                "marked": marked if marked != whole else "",
                "checks": (),
                "votes": (),
            }
        )
        proposed, more = self._sort_proposals(draft, answer.sub_questions, counts)
        # What is sent back anyway needs no options.
        chosen = self._set_options(draft, item, proposed, counts) if any(proposed) and not problems else item
        checks = run_checks(chosen, self._context)
        failed = _failed(checks)
        if failed and chosen is not item and not _failed(plain := run_checks(item, self._context)):
            # Something about the options: those of the rules had passed.
            chosen, checks, failed = item, plain, ()
            counts["distractors_taken"] = 0
        problems += _add_failed(problems, failed)
        found = (*problems, *remarks, *more)
        return EditResult(chosen.model_copy(update={"checks": checks}), found, counts)

    def _add_contexts(
        self,
        draft: Item,
        hops: Sequence[Hop],
        answers: Sequence[WordedHop],
        places: Sequence[TextConstraints],
        names: Mapping[str, PlanEntity],
        counts: Counter[str],
    ) -> tuple[tuple[Hop, ...], list[WordingProblem]]:
        done: list[Hop] = []
        problems: list[WordingProblem] = []
        for hop, answer, place in zip(hops, answers, places, strict=False):
            text = spell(" ".join(answer.context.split()), names.values())
            wrong = self._contexts.read(draft, hop, place, names, text)
            problems += wrong
            counts["contexts_kept" if text and not wrong else "contexts_left_out"] += 1
            done.append(add_context(hop, text) if text and not wrong else hop)
        return tuple(done), problems

    def _sort_proposals(
        self, draft: Item, answers: Sequence[WordedHop], counts: Counter[str]
    ) -> tuple[list[tuple[Value, ...]], list[WordingProblem]]:
        """The model's proposals that may stand among a hop's options, hop by hop, and what is wrong with others."""
        values: dict[int, Value] = {}
        proposed: list[tuple[Value, ...]] = []
        problems: list[WordingProblem] = []
        for hop, answer in zip(draft.hops, answers, strict=True):
            found = self._proposals.sort(hop, answer.distractors, values)
            proposed.append(found.candidates)
            counts["distractors_proposed"] += len(answer.distractors)
            for text, why in found.refused:
                counts[f"distractors_refused.{why}"] += 1
                if why == "true":
                    problems.append(
                        WordingProblem(
                            "true_distractor", f"the distractor {text!r} of hop {hop.index} is a right answer"
                        )
                    )
            values[hop.index] = stated_value(hop)
        return proposed, problems

    def _set_options(
        self, draft: Item, item: Item, proposed: Sequence[tuple[Value, ...]], counts: Counter[str]
    ) -> Item:
        """Make distractors anew from the first hop with a proposal on: later ones may follow from earlier ones."""
        start = next(place for place, candidates in enumerate(proposed) if candidates)
        values: dict[int, Value] = {hop.index: stated_value(hop) for hop in draft.hops}
        readers = [
            Reader(hop.derivation, hop.answer_type, values[hop.index], hop.evidence.claims, values)
            for hop in draft.hops
        ]
        earlier = list(draft.hops[:start])
        hops = list(item.hops[:start])
        for hop, worded, candidates in zip(draft.hops[start:], item.hops[start:], proposed[start:], strict=True):
            asked = item.question if hop is draft.hops[-1] else ""
            before = {index: value for index, value in values.items() if index < hop.index}
            reader = find_reader(hop.index, readers[hop.index :])
            made = self._maker.make(hop, before, earlier, asked, candidates, key=item.id, reader=reader)
            three = hop.distractors if isinstance(made, OptionShortage) else made
            options, label = assign_options(hop.answer, three, f"{self._seed}:{item.id}:{hop.index}")
            update = {"distractors": three, "options": options, "label": label}
            earlier.append(hop.model_copy(update=update))
            hops.append(worded.model_copy(update=update))
            chosen = {one.id or parse(one.text, hop.answer_type) for one in three}
            counts["distractors_taken"] += len(chosen & set(candidates))
        last = hops[-1]
        return item.model_copy(update={"hops": tuple(hops), "options": last.options, "label": last.label})


def _failed(checks: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    return tuple(check for check in checks if check.outcome == "fail")


def _add_failed(problems: Sequence[WordingProblem], failed: Sequence[CheckResult]) -> list[WordingProblem]:
    """The failed checks as problems, but for those that the reading has found already."""
    known = {problem.kind for problem in problems}
    added = []
    for check in failed:
        same = _SAME_AS.get(check.name, ())
        if not known & set(same):
            added.append(WordingProblem(same[0] if same else check.name, check.reason))
    return added

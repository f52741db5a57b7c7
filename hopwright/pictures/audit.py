"""The audit of a folder of picture questions: everything that was proven when they were made, proven again.

It reads the folder, a graph and a store of pictures, and trusts none of what the items say of themselves: what a
picture shows is the store's word, each answer is run again, and the need of every picture is shown by other pictures.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hopwright.errors import ExpressionError, HopwrightError, InputError
from hopwright.knowledge.images.descriptors import SAME, describe, measure_distances
from hopwright.knowledge.images.readable_text import SKIPPED, can_read, find_name, read_words
from hopwright.knowledge.images.rendering import decode_png
from hopwright.knowledge.images.store import Picture
from hopwright.pictures.choosing import OPTIONS, Run
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.drafting import PictureDrafter
from hopwright.pictures.drawing import Draft
from hopwright.pictures.rows import BRIDGING, list_media, name_kind, read_text
from hopwright.planning.execution import hops_used, same, stated_value
from hopwright.planning.picture_plans import PicturePlan
from hopwright.planning.picture_proofs import (
    Choice,
    list_choice,
    list_other_runs,
    refute_choice,
    refute_need,
    refute_plan,
)
from hopwright.planning.plan import PlanStep
from hopwright.records import Compute, Hop, Item, Lookup, ReadRegion, ReverseLookup
from hopwright.records.values import Value
from hopwright.scoring.typed_answers import TypedAnswer, judge_answer
from hopwright.topologies import PICTURE_TOPOLOGIES

_LARGEST_SHARE_OFF = 0.03
_SHARES = {"train": 0.7, "validation": 0.1, "test": 0.2}


@dataclass(frozen=True, slots=True)
class PictureViolation:
    """One rule that an item breaks; `item` is empty where the set as a whole does."""

    check: str
    item: str
    reason: str


@dataclass(frozen=True, slots=True)
class PictureAudit:
    """What an audit found: how many items and pictures it read, what is wrong, and which checks could not run."""

    items: int
    twins: int
    pictures: int
    checks: tuple[str, ...]
    violations: tuple[PictureViolation, ...]
    skipped: dict[str, str]


Check = Callable[[Item, "_Case"], Iterator[str]]


@dataclass(slots=True)
class _Case:
    """What the checks of one item share."""

    found: PictureSet
    drafter: PictureDrafter
    shown: tuple[Picture, ...]
    plan: PicturePlan | None
    runs: Sequence[Mapping[str, Run]] = ()
    choice: Choice | None = None


def audit_pictures(found: PictureSet, drafter: PictureDrafter, tell: Callable[[str], None]) -> PictureAudit:
    """Check every item, every twin and every picture of a folder."""
    violations: list[PictureViolation] = []
    items = [item for item, _ in found.items]
    for number, item in enumerate([*items, *found.twins]):
        if number % 50 == 0:
            tell(f"item {number:,} of {len(items) + len(found.twins):,}")
        case = _open_case(item, found, drafter)
        for name, check in CHECKS.items():
            violations += [PictureViolation(name, item.id, reason) for reason in check(item, case)]
    for name, check_set in SET_CHECKS.items():
        violations += [PictureViolation(name, id, reason) for id, reason in check_set(found)]
    tell("reading the pictures")
    violations += _check_files(found, drafter)
    skipped = {} if can_read() else {"no-name": SKIPPED}
    if can_read():
        violations += _check_readable(found, drafter)
    names = (*CHECKS, *SET_CHECKS, "files", "alike", "no-name")
    return PictureAudit(len(items), len(found.twins), len(found.pictures), names, tuple(violations), skipped)


def _open_case(item: Item, found: PictureSet, drafter: PictureDrafter) -> _Case:
    shown = tuple(
        picture
        for hop in item.hops
        if isinstance(hop.derivation, ReadRegion)
        and (picture := drafter.store.of_document(hop.derivation.document)) is not None
    )
    plan = _read_plan(item, shown)
    if plan is None:
        return _Case(found, drafter, shown, None)
    classes, planner = drafter.classes, drafter.planner
    runs = [
        list_other_runs(plan.recipe, plan.pictures, place, sorted(classes.get(picture.kind, {})), planner)
        for place, picture in enumerate(shown)
    ]
    return _Case(found, drafter, shown, plan, runs, list_choice(plan, planner))


def _read_plan(item: Item, shown: Sequence[Picture]) -> PicturePlan | None:
    """The plan that an item states, what its pictures show being the store's word; None where it states none."""
    steps = []
    for hop in item.hops[len(shown) :]:
        if not isinstance(hop.derivation, Lookup | ReverseLookup | Compute):
            return None
        try:
            steps.append(PlanStep(hop.derivation, stated_value(hop), hop.answer_type, hop.unit))
        except InputError:
            return None
    if not shown or not steps:
        return None
    kind = "bridging" if name_kind(item) == BRIDGING else "comparison"
    return PicturePlan(kind, "stated", item.topology, tuple(one.entity for one in shown), tuple(steps))  # type: ignore[arg-type]


def _check_shape(item: Item, case: _Case) -> Iterator[str]:
    """Topology, numbering and dependencies fit; the answer is the last hop's; the id is the plan's."""
    expected = PICTURE_TOPOLOGIES.get(item.topology)
    if expected is None or len(expected) != len(item.hops):
        yield f"topology {item.topology!r} does not have {len(item.hops)} hops"
        return
    if item.id != item.plan_id:
        yield "the id is not the hash of the plan"
    if item.answer != item.hops[-1].answer:
        yield "the answer is not the last hop's"
    used: set[int] = set()
    for place, (hop, needs) in enumerate(zip(item.hops, expected.depends_on, strict=True), start=1):
        try:
            read = hops_used(hop.derivation)
        except ExpressionError as error:
            yield f"hop {place}: {error}"
            continue
        if hop.index != place or hop.depends_on != needs or read != needs:
            yield f"hop {place}: does not depend on what the topology says"
        used |= set(read)
    if used != set(range(1, len(item.hops))):
        yield "a hop is used by no later one"


def _check_pictures(item: Item, case: _Case) -> Iterator[str]:
    """Every picture of the question is asked about by a hop of its own, in order, and is one that the store has."""
    media = list_media(item)
    asked = [list_media_of_hop(hop) for hop in item.hops if isinstance(hop.derivation, ReadRegion)]
    if [one for group in asked for one in group] != list(media):
        yield "the pictures of the question are not those of its hops"
    if len(case.shown) != len(media) or any(one.media != held for one, held in zip(case.shown, media, strict=False)):
        yield "a picture is not in the store"
        return
    if len(set(media)) != len(media):
        yield "a picture is shown twice"
    for picture, hop in zip(case.shown, item.hops, strict=False):
        if hop.answer_id != picture.entity or hop.answer != picture.label:
            yield f"hop {hop.index}: the picture shows {picture.label or 'something else'}, not {hop.answer}"


def list_media_of_hop(hop: Hop) -> tuple[str, ...]:
    """The pictures of a hop's question."""
    return tuple(part.media for part in hop.question_parts if part.kind == "image")


def _check_answers(item: Item, case: _Case) -> Iterator[str]:
    """Each hop, run again on the graph, gives what it states, and nothing speaks for a second answer."""
    if case.plan is None:
        yield "states no plan that can be run"
    elif refuted := refute_plan(case.plan, case.drafter.planner):
        yield f"{refuted.proof}: {refuted.reason}"


def _check_need(item: Item, case: _Case) -> Iterator[str]:
    """With another picture of its class in the place of each, the same words have another answer; a choice matters."""
    if case.plan is None:
        return
    if refuted := refute_need(case.plan, case.runs) or refute_choice(case.plan, case.choice):
        yield refuted.reason


def _check_ambiguity(item: Item, case: _Case) -> Iterator[str]:
    """No picture looks like that of another entity."""
    for picture in case.shown:
        if not picture.usable or picture.alike:
            yield picture.reason or f"another picture looks like that of {picture.label}"


def _check_leakage(item: Item, case: _Case) -> Iterator[str]:
    """The question's words name nothing that a picture shows, no answer on the way, and not the answer."""
    if case.plan is None:
        return
    question = read_text(item.question_parts)
    if leaked := case.drafter.find_leak(Draft(case.plan, case.shown), question):
        yield f"the question names {leaked}"
    for part in item.question_parts:
        if part.kind == "image" and any(one.label and one.label in part.description for one in case.shown):
            yield "the description of a picture names what it shows"


def _check_options(item: Item, case: _Case) -> Iterator[str]:
    """The right one under its letter, no other counts as right, and none is ruled out or contains another."""
    for hop in item.hops:
        if not hop.options and hop.label is None:
            continue
        texts = list(hop.options.values())
        if len({text.casefold() for text in texts}) != 1 + OPTIONS or len(texts) != 1 + OPTIONS:
            yield f"hop {hop.index}: has not {1 + OPTIONS} different options"
            continue
        if hop.label is None or hop.options.get(hop.label) != hop.answer:
            yield f"hop {hop.index}: the letter is not that of the answer"
        gold = TypedAnswer(hop.answer, hop.answer_type, hop.unit, hop.answer_aliases)
        if any(judge_answer(text, gold) for text in texts if text != hop.answer):
            yield f"hop {hop.index}: another option counts as right, too"
        if sorted(text for text in texts if text != hop.answer) != sorted(one.text for one in hop.distractors):
            yield f"hop {hop.index}: the options are not the distractors"
    if item.options != item.hops[-1].options or item.label != item.hops[-1].label:
        yield "the options are not the last hop's"
    if case.plan is not None and item.options:
        try:
            values = _read_distractors(item.hops[-1])
        except InputError as error:
            yield f"an option is of another kind than the answer ({error})"
            return
        yield from case.drafter.chooser.list_faults(case.plan, values, case.runs, case.choice)


def _read_distractors(hop: Hop) -> list[Value]:
    """The values of the wrong options. Raises InputError for one that is no value of the answer's kind."""
    return [stated_value(hop.model_copy(update={"answer": one.text, "answer_id": one.id})) for one in hop.distractors]


def _check_reachable(item: Item, case: _Case) -> Iterator[str]:
    """Without the pictures at least two of the options are possible answers: no option is out of the question."""
    if case.plan is None or not item.options:
        return
    last = case.plan.depth
    try:
        wrong = _read_distractors(item.hops[-1])
    except InputError:
        return
    possible = {case.plan.answers[last], *(answers[last] for runs in case.runs for answers in runs.values())}
    if not any(same(one, other) for one in wrong for other in possible):
        yield "only the answer is possible, whatever the pictures show"


CHECKS: dict[str, Check] = {
    "shape": _check_shape,
    "pictures": _check_pictures,
    "answers": _check_answers,
    "need": _check_need,
    "ambiguity": _check_ambiguity,
    "leakage": _check_leakage,
    "options": _check_options,
    "reachable": _check_reachable,
}
"""What is checked of each item."""


def _check_twins(found: PictureSet) -> Iterator[tuple[str, str]]:
    """A twin has its original's words, other pictures and another answer; both name each other."""
    originals = {item.id: item for item, _ in found.items}
    for twin in found.twins:
        one = originals.get(twin.twin or "")
        if one is None or one.twin != twin.id:
            yield twin.id, "names no item that names it"
        elif twin.question != one.question or list_media(twin) == list_media(one):
            yield twin.id, "is not the same question about other pictures"
        elif judge_answer(twin.answer, TypedAnswer(one.answer, one.hops[-1].answer_type, one.hops[-1].unit)):
            yield twin.id, "has its original's answer"
    twins = {twin.id for twin in found.twins}
    yield from ((id, "its twin is missing") for id, item in originals.items() if item.twin and item.twin not in twins)


def _check_repetition(found: PictureSet) -> Iterator[tuple[str, str]]:
    """No question is asked twice about the same pictures."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for item in (*(one for one, _ in found.items), *found.twins):
        key = (item.question, list_media(item))
        if key in seen:
            yield item.id, "is asked twice"
        seen.add(key)


def _check_split(found: PictureSet) -> Iterator[tuple[str, str]]:
    """The parts are 7 : 1 : 2, give or take a few of a hundred."""
    counts: Counter[str] = Counter(split for _, split in found.items)
    total = len(found.items)
    for split, share in _SHARES.items():
        if total >= 100 and abs(counts[split] / total - share) > _LARGEST_SHARE_OFF:
            yield "", f"{split} has {counts[split]} of {total} items, not {share:.0%}"


SET_CHECKS: dict[str, Callable[[PictureSet], Iterator[tuple[str, str]]]] = {
    "twins": _check_twins,
    "repetition": _check_repetition,
    "split": _check_split,
}
"""What is checked of the set as a whole."""


def _check_files(found: PictureSet, drafter: PictureDrafter) -> Iterator[PictureViolation]:
    """Every picture is there, unchanged, with licence and author, and no two of different entities look alike."""
    vectors: dict[str, list[tuple[str, str, object]]] = {}
    for media in sorted({media for item in (*(i for i, _ in found.items), *found.twins) for media in list_media(item)}):
        row = found.pictures.get(media)
        if row is None or not row["licence"] or not row["author"]:
            yield PictureViolation("files", "", f"picture {media[:12]}: its licence or author is not stated")
            continue
        try:
            data = found.read_png(media)
            image = decode_png(data)
        except HopwrightError as error:
            yield PictureViolation("files", "", str(error))
            continue
        if hashlib.sha256(data).hexdigest() != media:
            yield PictureViolation("files", "", f"picture {media[:12]}: is not the file that its name says")
            continue
        vector = describe(image)
        held = vectors.setdefault(row["kind"], [])
        for entity, other, seen in held:
            distance = measure_distances(vector, seen[None])[0]  # type: ignore[index]
            if entity != row["entity"] and distance <= SAME[row["kind"]]:  # type: ignore[index]
                yield PictureViolation("alike", "", f"pictures {media[:12]} and {other[:12]} look alike")
        held.append((row["entity"], media, vector))


def _check_readable(found: PictureSet, drafter: PictureDrafter) -> Iterator[PictureViolation]:
    """No name of what a picture shows can be read in it."""
    for media, row in sorted(found.pictures.items()):
        words = read_words(decode_png(found.read_png(media)))
        if name := find_name(words, drafter.list_names(row["entity"])):
            yield PictureViolation("no-name", "", f"picture {media[:12]}: {name} can be read in it")

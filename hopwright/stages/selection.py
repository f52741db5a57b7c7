"""The selection over all drafts: which are dropped and why, and the shards that copy what is kept."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.planning.computation_forms import EndMember, EndOfMaker, Extreme, Form, GroupSize, read_form
from hopwright.planning.quotas import DIRECTION, HELD, shorten_frame
from hopwright.records import Rejected
from hopwright.records.arrow import (
    ITEM_SCHEMA,
    list_claimed,
    read_columns,
    read_derivations,
    read_hop_answers,
    read_hop_domains,
    read_parquet,
    read_rejected,
)
from hopwright.reporting.scorecard import MOST_OPENING, find_opening
from hopwright.runs import ShardOutput
from hopwright.settings.synthesis import SynthesizeParameters

_TITLE = re.compile(r'"[^"]+"')
_NAMED = re.compile(r"\b(?:[^\W\d_a-z][\w'’-]*|\d+)")
_OPENING = frozenset(
    (
        "Among At Compare Consider Counting For From How In Look Of On Out Take The Think To What When Where Which "
        "Who Whom Whose"
    ).split()
)
"""Words with a capital that only open a sentence."""
_NAMES = re.compile(r"\b(?:Q\d+|\d+)\b(?:, )?")
_FEWEST_ALIKE = 8
"""So many of one frame are kept in any set, however small."""
_MOST_ENDING = 0.2
"""The largest share of the drafts that ends with one look-up."""
_MOST_OPENING, _FEWEST_OPENING = 0.5 * MOST_OPENING, 4
"""The largest share of what is kept that begins with the same words, less than the scorecard asks of a release, for
voters may drop more of the others; and how many are kept in any set, however small.
"""
_MOST_OF_END = (0.02, 4)
"""The largest share of the drafts that asks for the first or the last of several members of one series, such as the
Tours de France, and how many are kept in any set, however small."""
_MOST_STEPS = {
    "choose by a moment": (0.003, 0),
    "ask for the end of a series": (0.003, 0),
    "ask for the same as of another": (0.003, 0),
    "begin with the first or last film of whoever made another": (0.04, 4),
    "begin with somebody's first or last film": (0.15, 16),
}
"""The largest shares of the drafts that choose by a moment, that ask for the first or the last of a series, also of
those that have the same as another member, and that begin with somebody's first or last film. Readers find a death a
ruler laid on the list of somebody else's works, `the winner of the one won by the winner` stiff, and `the director of
the film worked with the cinematographer of his last one` hard to untangle; few films are certainly somebody's first.
After each share how many are kept in any set, however small.
"""
_MOST_OF_DOMAIN = 0.45
"""The largest share of the drafts that one domain has, where a graph gives so many domains that all can have theirs."""
_MANY_DOMAINS = 5
_MOST_OF_OWNER = 2
"""So many questions may ask of what one person made with others: to readers more of them are one question."""
_ENDING = re.compile(r"\bP\d+$|\bkin$")
_SHORT_WAY = 3
"""Up to so many hops, what lies between the first and the last is too little to make two questions one."""
_MOST_ALIKE = 2
"""So many questions may go through the same answers: who of two died first, and where the older was born."""


@dataclass(frozen=True, slots=True)
class DraftKey:
    """What selection needs to know of a draft; `slot` is its number over all shards."""

    slot: int
    id: str
    topology: str
    answer: str
    question: str
    frame: str = ""
    """What it shares with those that differ from it in names, years and direction only; see `find_frame`."""
    way: str = ""
    """What its hops lead to, one after the other."""
    middle: str = ""
    """What lies between its first hop and its last; empty for short ways."""
    end: str = ""
    """What its last two hops lead to, where the last is a look-up; else empty."""
    choice: str = ""
    """What it chooses from a list that a moment parts, and that moment; empty for one that does not."""
    step: str = ""
    """What it does of which there shall be few (see `_MOST_STEPS`); else empty."""
    end_of: str = ""
    """The series of which it chooses the first or the last member; else empty."""
    domain: str = ""
    """What most of its hops are about."""
    owner: str = ""
    """Of whose works, made with somebody else, it chooses one; else empty."""


@dataclass(frozen=True, slots=True)
class SelectionSurvey:
    """What selection over all drafts so far says: for each part its rows' ids, and which rows are dropped and why."""

    ids: tuple[tuple[str, ...], ...]
    dropped: tuple[dict[int, tuple[str, str]], ...]

    def kept(self) -> Iterator[tuple[int, int, str]]:
        """Part, row and id of every draft that is not dropped, in slot order."""
        for part, (ids, dropped) in enumerate(zip(self.ids, self.dropped, strict=True)):
            for row, id in enumerate(ids):
                if row not in dropped:
                    yield part, row, id


@dataclass(frozen=True, slots=True)
class SelectionPart:
    """One part of drafts: which of its rows are dropped (row → check, reason), and where others were worded anew.

    `worded` holds, for a kept row that a model worded, the part and row in which its new words are.
    """

    part: Path
    dropped: dict[int, tuple[str, str]]
    worded: dict[int, tuple[Path, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WordingState:
    """What has come of wording so far: where each accepted item lies, and why the others were rejected, by id."""

    accepted: dict[str, tuple[Path, int]]
    rejected: dict[str, tuple[str, str]]


def survey_drafts(parts: list[Path], wanted: SynthesizeParameters) -> SelectionSurvey:
    """Look over all drafts at once, five columns of them, and decide what is dropped from which part."""
    keys, counts = _read_keys(parts)
    objected = _find_objected(keys, wanted.objections_file())
    dropped = objected | select(
        [key for key in keys if key.slot not in objected],
        max_answer_share=wanted.max_answer_share,
        max_frame_share=wanted.max_frame_share,
        items=wanted.items,
    )
    starts = list(itertools.accumulate(counts, initial=0))
    return SelectionSurvey(
        tuple(tuple(key.id for key in keys[start:end]) for start, end in itertools.pairwise(starts)),
        tuple(
            {slot - start: dropped[slot] for slot in range(start, end) if slot in dropped}
            for start, end in itertools.pairwise(starts)
        ),
    )


def _find_objected(keys: Iterable[DraftKey], file: Path | None) -> dict[int, tuple[str, str]]:
    """The slots whose plans, or whose kinds of plans, a model objected to in an earlier run."""
    if file is None:
        return {}
    from hopwright.stages.objections import read_objections  # which rests on the frames of this module

    objections = read_objections(file)
    found = ((key.slot, objections.find_reason(key.id, key.frame)) for key in keys)
    return {slot: ("objected", reason) for slot, reason in found if reason}


def select(
    drafts: Iterable[DraftKey], *, max_answer_share: float, max_frame_share: float = 1.0, items: int = 0
) -> dict[int, tuple[str, str]]:
    """Decide over all drafts which slots are dropped: slot → (check, reason).

    Drops repeated plans and questions, what leads the same way by the same answers, what starts from the same work, or
    names the same things, as an earlier one (two such questions answer each other), what is a third through the same
    answers, what ends with the same two steps or chooses the same by the same moment, what nearly repeats an earlier
    question (named in the reason), and what is over the share of one frame, of one look-up to end with (a birthplace
    can end a question about anybody), of each of `_MOST_STEPS`, of ends of one series, or of one final answer. Of an
    answer half of the share is allowed here, because the difficulty filter then takes away a part of the items but not
    evenly. Where a number of `items` is asked for, the shares are of that number: what is kept then stays kept when
    further drafts are drawn. Where none is, what has the rarest topology goes before what asks the same otherwise, and
    who was billed first is asked last of all.
    """
    from hopwright.checks.near_duplicates import NearDuplicateFinder  # slow to load, and of no use to the workers

    dropped: dict[int, tuple[str, str]] = {}
    kept: list[DraftKey] = []
    seen: dict[str, str] = {}
    alike: Counter[str] = Counter()
    finder = NearDuplicateFinder()
    texts: dict[str, str] = {}
    drafts = list(drafts)
    shapes = Counter(one.topology for one in drafts)
    for draft in sorted(drafts, key=lambda one: (0, False, one.slot) if items else _rank(one, shapes)):
        named = _list_named(draft.question)
        keys = (draft.id, draft.question.casefold(), f"{draft.answer}|{named}" if named else "", draft.way)
        first = next((seen[name] for name in keys if name and name in seen), None)
        if first is not None:
            again = "another draft of this plan" if first == draft.id else f"asks the same as {first}"
            dropped[draft.slot] = ("duplicate", again)
            continue
        seen.update(dict.fromkeys(keys, draft.id))
        start = "|".join(sorted(set(_TITLE.findall(draft.question)))) or named
        if start and (first := seen.get(f"start|{start}")):
            dropped[draft.slot] = ("duplicate", f"asks of the same as {first}")
            continue
        alike[draft.middle] += bool(draft.middle)
        if alike[draft.middle] > _MOST_ALIKE:
            dropped[draft.slot] = ("duplicate", f"{_MOST_ALIKE} earlier ones ask something else of the same")
            continue
        if draft.end and (first := seen.setdefault(f"end|{draft.end}", draft.id)) != draft.id:
            dropped[draft.slot] = ("duplicate", f"ends with the same two steps as {first}")
            continue
        # To readers what is chosen and what goes on from it are one question.
        if draft.choice and (first := seen.setdefault(f"choice|{draft.choice}", draft.id)) != draft.id:
            dropped[draft.slot] = ("duplicate", f"chooses the same by the same moment as {first}")
            continue
        near = finder.add(draft.question, draft.id)
        if near is not None:
            twin = f"{near.key}, {texts[near.key]!r}"
            dropped[draft.slot] = ("near_duplicate", f"{near.share:.0%} the same as {twin}")
            continue
        texts[draft.id] = draft.question
        seen[f"start|{start}"] = draft.id
        kept.append(draft)
    total = items or len(kept)
    for limit in _list_limits(max_answer_share, max_frame_share):
        if not limit.applies(kept):
            continue
        counts: Counter[str] = Counter()
        left: list[DraftKey] = []
        size = min(total, len(kept))
        for draft in kept:
            if name := limit.find_shared(draft):
                counts[name] += 1
                share, fewest = limit.find_most(name)
                allowed = max(fewest, math.floor((size if limit.of_kept else total) * share))
                # Of what may have all, more are kept than asked for: they replace what a model refuses.
                if share < 1.0 and counts[name] > allowed:
                    dropped[draft.slot] = (limit.check, limit.reason.format(allowed=allowed, name=name))
                    continue
            left.append(draft)
        kept = left
    return dropped


@dataclass(frozen=True, slots=True)
class _Limit:
    """How many of the drafts may share something."""

    check: str
    find_shared: Callable[[DraftKey], str]
    """Its name; empty for a draft that has no such thing."""
    find_most: Callable[[str], tuple[float, int]]
    """The part of all that may have one of that name, and how many may in any set, however small."""
    reason: str
    of_kept: bool = False
    """Whether the share is of what is kept where that is less than what is asked for."""
    applies: Callable[[Sequence[DraftKey]], bool] = lambda _: True
    """Whether what the limits before it have left is held to it."""


def _list_limits(max_answer_share: float, max_frame_share: float) -> Iterator[_Limit]:
    """The limits, in the order in which they are kept to: what one drops does not count at the next."""
    alike = "{allowed} earlier ones differ in names and years only"
    yield _Limit("frame_share", lambda one: one.frame, lambda _: (max_frame_share, _FEWEST_ALIKE), alike)
    ending = "{allowed} earlier ones end with the same look-up"
    yield _Limit("ending_share", _find_ending, lambda _: (_MOST_ENDING, _FEWEST_ALIKE), ending)
    step = "{allowed} earlier ones {name}"
    yield _Limit("step_share", lambda one: one.step, _MOST_STEPS.__getitem__, step)
    end = "{allowed} earlier ones ask for an end of the same series"
    yield _Limit("series_share", lambda one: one.end_of, lambda _: _MOST_OF_END, end)
    domain = "{allowed} earlier ones are about {name}"
    most_of_domain = (_MOST_OF_DOMAIN, _FEWEST_ALIKE)
    yield _Limit("domain_share", lambda one: one.domain, lambda _: most_of_domain, domain, applies=_has_many_domains)
    opening = "{allowed} earlier ones begin with {name!r}"
    most_alike = (_MOST_OPENING, _FEWEST_OPENING)
    yield _Limit("opening_share", lambda one: find_opening(one.question), lambda _: most_alike, opening, True)
    owner = "{allowed} earlier ones ask of what the same person made with somebody"
    yield _Limit("owner_share", lambda one: one.owner, lambda _: (0.0, _MOST_OF_OWNER), owner)
    answer = "{name!r} is the answer of {allowed} earlier ones"
    yield _Limit("answer_share", lambda one: one.answer, lambda _: (max_answer_share / 2, 1), answer, True)


def _has_many_domains(drafts: Sequence[DraftKey]) -> bool:
    """Whether drafts are about so many domains that none need hold more than its share: a graph of films is not."""
    counts = Counter(draft.domain for draft in drafts if draft.domain)
    return sum(count >= _FEWEST_ALIKE for count in counts.values()) >= _MANY_DOMAINS


def _rank(draft: DraftKey, shapes: Mapping[str, int]) -> tuple[int, bool, int]:
    """What goes before what asks the same: the rarest topology, then what readers would rather know."""
    return shapes[draft.topology], _find_ending(draft) in ROLES.last_resort, draft.slot


def _find_ending(draft: DraftKey) -> str:
    match = _ENDING.search(draft.frame)
    return match[0] if match else ""


def find_frame(topology: str, derivations: Sequence[Mapping[str, Any]]) -> str:
    """What is left of a plan without its names, years and directions: `converging ~year ~year chosen(P569, …) P570`.

    Whose list a year is looked up in makes no difference, and no more does which of somebody's kin is meant: two
    laureates are compared as two champions are, and a mother dies as a wife does.
    """
    steps = []
    for one in derivations:
        if one["op"] == "compute":
            steps.append(DIRECTION.sub("chosen", _NAMES.sub("", one["expression"] or "")))
        elif one["op"] == "reverse_lookup":
            tests = [f"+{constraint['property']}" for constraint in one["constraints"] or ()]
            value = one.get("value") or ""
            timeline = default_table().is_timeline(one["property"])
            steps.append((HELD if value.startswith("hop") else "~year") if timeline and not tests
                         else f"~{one['property']}{''.join(tests)}")  # fmt: skip
        else:
            steps.append("kin" if one["property"] in ROLES.kinship else one["property"] or one["op"])
    return " ".join([topology, *shorten_frame(steps, default_table().entity)])


def read_wordings(parts: list[tuple[Path, Path]]) -> WordingState:
    """Gather what wording made of drafts, from its parts and their rejected rows; two alike keep the first."""
    accepted: dict[str, tuple[Path, int]] = {}
    rejected: dict[str, tuple[str, str]] = {}
    asked: dict[str, str] = {}
    for part, refused in parts:
        for row, (id, question) in enumerate(read_columns(part, "id", "question")):
            first = asked.setdefault(question.casefold(), id)
            if first == id:
                accepted[id] = (part, row)
            else:
                rejected[id] = ("duplicate", f"worded like {first}")
        for one in read_rejected(refused):
            rejected[one.key] = (one.check, one.reason)
    return WordingState(accepted, rejected)


def keep_selected(selection: SelectionPart) -> ShardOutput:
    """Copy one part without the dropped rows, the worded ones in their new words."""
    table = read_parquet(selection.part, ITEM_SCHEMA)
    ids = table.column("id").to_pylist()
    rejected = [
        Rejected(key=ids[row], check=check, reason=reason) for row, (check, reason) in sorted(selection.dropped.items())
    ]
    kept = [row for row in range(table.num_rows) if row not in selection.dropped]
    # Wording adds no claim and takes none away.
    resting = {"items_on_claims": len(set(list_claimed(table)) & set(kept))}
    figures = resting if any(resting.values()) else {}
    if not selection.worded:
        return ShardOutput(table.take(pa.array(kept, pa.int64())), rejected, taken=table.num_rows, figures=figures)
    # All kept rows were worded: they are taken from the parts of that step, in the order of the drafts.
    sources = sorted({part for part, _ in selection.worded.values()})
    starts: dict[Path, int] = {}
    tables: list[pa.Table] = []
    for source in sources:
        starts[source] = sum(one.num_rows for one in tables)
        tables.append(read_parquet(source, ITEM_SCHEMA))
    places = [starts[part] + place for part, place in (selection.worded[row] for row in kept)]
    return ShardOutput(
        pa.concat_tables(tables).take(pa.array(places, pa.int64())).combine_chunks(),
        rejected,
        taken=table.num_rows,
        figures=figures,
    )


def _read_keys(parts: list[Path]) -> tuple[list[DraftKey], list[int]]:
    keys: list[DraftKey] = []
    counts: list[int] = []
    for part in parts:
        rows = read_columns(part, "id", "topology", "answer", "question")
        counts.append(len(rows))
        told = zip(rows, read_derivations(part), read_hop_answers(part), read_hop_domains(part), strict=True)
        for (id, topology, answer, question), steps, found, domains in told:
            frame = find_frame(topology, steps)
            way, middle = "|".join((frame, *found)), "|".join(found[1:-1]) if len(found) > _SHORT_WAY else ""
            end = "|".join(found[-2:]) if _ENDING.search(frame) else ""
            forms = [read_form(one.get("expression") or "") for one in steps]
            choice, step = _find_choice(forms, found), _find_step(forms, steps)
            end_of = next((form.series for form in forms if isinstance(form, EndMember)), "")
            domain, owner = Counter(domains).most_common(1)[0][0], _find_owner(forms, found)
            shared = (frame, way, middle, end, choice, step, end_of, domain, owner)
            keys.append(DraftKey(len(keys), id, topology, answer, question, *shared))
    return keys, counts


def _find_choice(forms: Sequence[Form | None], found: Sequence[str]) -> str:
    """What a hop chooses by the moment that parts a list, after that moment, by what several members of a series share,
    or by who made it together; empty where none does.
    """
    for form, answer in zip(forms, found, strict=True):
        if isinstance(form, Extreme | GroupSize) and form.moment:
            return f"{found[int(form.moment[3:]) - 1]}|{answer}"
        if isinstance(form, EndMember):
            return f"{found[int(form.reference[3:]) - 1]}|{answer}"
        if isinstance(form, Extreme) and form.members is not None and form.members.credit:
            return f"{form.members.credit} {form.largest}|{answer}"
    return ""


def _find_owner(forms: Sequence[Form | None], found: Sequence[str]) -> str:
    """Of whose works, made with somebody else, a hop chooses one; empty where none does."""
    for form in forms:
        if isinstance(form, Extreme) and form.members is not None and form.members.credit:
            owner = form.members.shared
            return found[int(owner[3:]) - 1] if owner.startswith("hop") else owner
    return ""


def _find_step(forms: Sequence[Form | None], steps: Sequence[Mapping[str, Any]]) -> str:
    """What the hops do of which there shall be few (see `_MOST_STEPS`); else empty."""
    same = ""
    if isinstance(first := forms[0], Extreme) and first.members is not None and len(forms) > 1:
        return "begin with somebody's first or last film"
    if isinstance(first, EndOfMaker):
        return "begin with the first or last film of whoever made another"
    for form in forms:
        if isinstance(form, Extreme | GroupSize) and form.moment:
            return "choose by a moment"
        if isinstance(form, EndMember):
            alike = steps[int(form.reference[3:]) - 1]["property"] == form.column
            same = "ask for the same as of another" if alike else "ask for the end of a series"
    return same


def _list_named(question: str) -> str:
    """What a question names, in one order: titles, proper names, years. Empty where it names nothing.

    Two of the same with the same answer ask the same, such as of two people named the other way round.
    """
    titles = set(_TITLE.findall(question))
    return "|".join(sorted(titles | set(_NAMED.findall(_TITLE.sub("", question))) - _OPENING))

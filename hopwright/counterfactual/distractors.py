"""The wrong options of a twin: renamed entities, and numbers as far off as they were."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal

from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.shifts import LAST_YEAR
from hopwright.errors import InputError
from hopwright.planning.execution import render_answer
from hopwright.records import Distractor, Hop
from hopwright.records.values import Scalar, parse

_Number = int | Decimal


def rename_distractors(
    hop: Hop, answer_id: str | None, ids: Mapping[str, str], surrogates: Mapping[str, str]
) -> tuple[Distractor, ...]:
    """The wrong entities under their new names.

    When the twin's answer is another entity than the original's (a comparison turned round) and it was among the
    wrong ones, the original's answer takes its place.
    """
    out: list[Distractor] = []
    for distractor in hop.distractors:
        key = distractor.id or distractor.text
        if answer_id is not None and ids.get(key, key) == answer_id and hop.answer_id is not None:
            key = hop.answer_id
        known = ids.get(key) or (key if distractor.id else None)
        out.append(distractor.model_copy(update={"text": surrogates.get(key, distractor.text), "id": known}))
    return tuple(out)


def move_distractors(
    hop: Hop, new: Scalar, operands: Mapping[str, Scalar], shown: Collection[str] = ()
) -> tuple[Distractor, ...]:
    """Wrong numbers or dates around a new answer, each as far off as it was from the old one.

    operands: how numbers that occur on the way were written → their new values. shown: numbers of the question, which
    are no options. All come out different from each other and from the answer, positive where they were, and no year
    past the current one. Raises TwinError ("twin_distractors") when a text is no number or date.
    """
    taken = {render_answer(new, hop.unit), *shown}
    out: list[Distractor] = []
    for distractor in hop.distractors:
        text = next(
            (text for text in _list_candidates(hop, distractor, new, operands) if text not in taken),
            None,
        )
        if text is None:
            raise TwinError("twin_distractors", f"hop {hop.index}: no other number in place of {distractor.text!r}")
        taken.add(text)
        out.append(distractor.model_copy(update={"text": text}))
    return tuple(out)


def _list_candidates(hop: Hop, distractor: Distractor, new: Scalar, operands: Mapping[str, Scalar]) -> Iterator[str]:
    try:
        old = parse(hop.answer, hop.answer_type)
        wrong = parse(distractor.text, hop.answer_type)
    except InputError as error:
        raise TwinError("twin_distractors", f"hop {hop.index}: {error}") from None
    if distractor.text in operands and distractor.kind == "operand":
        yield render_answer(operands[distractor.text], hop.unit)
    if isinstance(old, dt.date) and isinstance(wrong, dt.date) and isinstance(new, dt.date):
        yield from (render_answer(date, hop.unit) for date in _list_dates(old, wrong, new))
    elif isinstance(old, int | Decimal) and isinstance(wrong, int | Decimal) and isinstance(new, int | Decimal):
        places = _count_places(render_answer(new, hop.unit))
        for exact in _list_numbers(wrong - old, new):
            # An option with more decimals than the answer, or fewer, gives itself away.
            number = round(Decimal(exact), places) if places else round(Decimal(exact))
            text = render_answer(number, hop.unit)
            positive = number > 0 or (number == 0 and wrong <= 0) or new < 0
            # Beside an answer with a fraction, a whole number stands out, and may stand in the question.
            if places and new != int(new) and number == int(number):
                continue
            if positive and (hop.unit != "year" or number <= LAST_YEAR) and _count_places(text) == places:
                yield text


def _count_places(text: str) -> int:
    return len(text.partition(".")[2])


def _list_numbers(slip: _Number, new: _Number) -> Iterator[_Number]:
    """The same slip, the other way round, then ever further slips."""
    yield new + slip
    yield new - slip
    unit: _Number = 1 if slip == int(slip) else max(slip, -slip)
    further: _Number = 0
    for _ in range(60):
        further += unit
        yield new + slip + further
        yield new - slip - further


def _list_dates(old: dt.date, wrong: dt.date, new: dt.date) -> Iterator[dt.date]:
    """The same slip in years when day and month agree, else in days; then ever further ones."""
    years = wrong.year - old.year
    for step in range(60):
        for sign in (1, -1):
            if (old.month, old.day) == (wrong.month, wrong.day):
                year = new.year + sign * (years + step)
                if 1 <= year <= LAST_YEAR:
                    yield new.replace(year=year, day=min(new.day, calendar.monthrange(year, new.month)[1]))
            else:
                moved = new + sign * ((wrong - old) + dt.timedelta(days=step))
                if 1 <= moved.year <= LAST_YEAR:
                    yield moved

"""Holds annotations against the interface that they were made in, and turns them into reviews.

Label Studio stores whatever is sent to it: what fits the interface is for us to find out.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, cast, get_args

from label_studio_sdk.label_interface.interface import LabelInterface

from annotation.schema import (
    COMMENT,
    COMPUTATION,
    ERRORS_CONTROL,
    FIXES,
    OWN_ANSWER,
    OWN_ANSWERS,
    OWN_WORDS,
    SOURCE_URL,
    VERDICT,
    VERDICTS,
    ReviewTaskKind,
    criteria_of,
)
from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.records import Correction, Review, ReviewVerdict, Score
from hopwright.records.review import OwnAnswer

_SHOWN = 3
_LONGEST_WORK = 1e9
"""Seconds; a page may stay open for long."""
_LONGEST = 300
_LONGEST_TEXT = 20_000


def read_annotation(
    annotation: Mapping[str, Any], data: Mapping[str, Any], form: LabelInterface, *, project: int, task: int, who: str
) -> Review:
    """One annotation as a review by the pseudonym `who`. Raises InputError saying in a few words what does not fit."""
    kind, of = _read_kind(data)
    result = annotation.get("result") or []
    skipped = bool(annotation.get("was_cancelled"))
    values: dict[str, Mapping[str, Any]] = {} if skipped else _read_values(result, form)
    verdict = _only_choice(values.get(VERDICT), VERDICT)
    if not skipped and verdict not in VERDICTS:
        raise InputError("it has no verdict" if verdict is None else f"{verdict!r} is no verdict")
    names = criteria_of(kind, of)
    seconds = annotation.get("lead_time")
    if seconds is not None and (type(seconds) not in (int, float) or not 0 <= seconds <= _LONGEST_WORK):
        raise InputError(f"its lead_time is {show(repr(seconds), 40)}, no number of seconds")
    try:
        return Review(
            item_id=str(data["item_id"]),
            kind=kind.value,
            of=None if of is None else of.value,
            hop=data.get("hop"),
            item_hash=str(data["item_hash"]),
            annotator=who,
            project=project,
            task=task,
            annotation=int(annotation["id"]),
            created=read_time(annotation["created_at"]),
            updated=read_time(annotation["updated_at"]),
            seconds=None if seconds is None else round(float(seconds), 3),
            skipped=skipped,
            verdict=cast(ReviewVerdict | None, verdict),
            scores=tuple(Score(criterion=name, value=_score(values[name], name)) for name in names if name in values),
            errors=tuple(sorted(set(_texts(values.get(ERRORS_CONTROL), "choices")))),
            corrections=tuple(
                Correction(field=name, text=text) for name in FIXES if (text := _text(values.get(name))) is not None
            ),
            computation=_text(values.get(COMPUTATION)) or "",
            source_url=_text(values.get(SOURCE_URL)) or "",
            comment=_text(values.get(COMMENT)) or "",
            own_answer=cast(OwnAnswer | None, _only_choice(values.get(OWN_ANSWER), OWN_ANSWER)),
            own_words=_text(values.get(OWN_WORDS)) or "",
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"its {_blame(error)} cannot be read") from None


def read_time(text: object) -> str:
    """A time of the server in UTC, with microseconds. Raises ValueError for what is none."""
    moment = dt.datetime.fromisoformat(str(text))
    return moment.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _read_kind(data: Mapping[str, Any]) -> tuple[ReviewTaskKind, ReviewTaskKind | None]:
    try:
        kind = ReviewTaskKind(data["kind"])
        of = ReviewTaskKind(data["of"]) if kind is ReviewTaskKind.ADJUDICATION else None
        criteria_of(kind, of)
    except (KeyError, TypeError, ValueError):
        raise InputError("its task does not say what kind it is") from None
    return kind, of


def _read_values(result: object, form: LabelInterface) -> dict[str, Mapping[str, Any]]:
    """Control → value, every region held against the interface."""
    if not isinstance(result, list) or not all(isinstance(region, dict) for region in result):
        raise InputError("its result is no list of answers")
    known = {control.name for control in form.controls}
    unknown = sorted({str(region.get("from_name")) for region in result} - known)
    if unknown:
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        raise InputError(f"the interface has no field {', '.join(repr(name[:40]) for name in unknown[:_SHOWN])}{more}")
    if not all(isinstance(region.get("value"), dict) for region in result):
        raise InputError("one of its answers has no value")
    try:
        problems = form.validate_prediction({"result": result}, return_errors=True)  # type: ignore[no-untyped-call]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        # The SDK takes an answer's fields to have their types.
        raise InputError(f"its result cannot be read ({type(error).__name__})") from None
    if problems:
        raise InputError(" ".join(str(problems[0]).split())[:_LONGEST])
    values: dict[str, Mapping[str, Any]] = {}
    for region in result:
        name = region["from_name"]
        if name in values:
            raise InputError(f"it answers {name} twice")
        value = region["value"]
        values[name] = value
    return values


def _score(value: Mapping[str, Any], name: str) -> int:
    """A score from 1 to 5: one of five choices, or, in interfaces of earlier versions, so many stars."""
    if "rating" in value:
        score = value["rating"]
    else:
        chosen = _only_choice(value, name) or ""
        score = int(chosen) if len(chosen) == 1 and chosen in "12345" else chosen
    if type(score) is not int or not 1 <= score <= 5:
        raise InputError(f"{name} is {show(repr(score), 40)}, not a whole number from 1 to 5")
    return score


def _only_choice(value: Mapping[str, Any] | None, name: str) -> str | None:
    choices = _texts(value, "choices")
    if len(choices) > 1:
        raise InputError(f"it chooses {len(choices)} of {name}")
    return choices[0] if choices else None


def _texts(value: Mapping[str, Any] | None, key: str) -> list[str]:
    found = [] if value is None else value.get(key, [])
    texts = [found] if isinstance(found, str) else found
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"its {key} is no list of texts")
    if sum(map(len, texts)) > _LONGEST_TEXT:
        raise InputError(f"its {key} has more than {_LONGEST_TEXT:,} characters")
    return texts


def _text(value: Mapping[str, Any] | None) -> str | None:
    """A text area's content, its entries on lines of their own; None where it was not sent."""
    return None if value is None else "\n".join(_texts(value, "text")).strip()


def _blame(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"field {error.args[0]!r}"
    first = getattr(error, "errors", lambda: [{"loc": ("times or numbers",)}])()[0]
    return ".".join(str(part) for part in first["loc"])


assert get_args(ReviewVerdict) == VERDICTS
assert get_args(OwnAnswer) == OWN_ANSWERS

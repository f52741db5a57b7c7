"""What a model objected to: gathered by kind of plan, for reviewers, and read by a later build that avoids it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from hopwright.errors import InputError
from hopwright.foreign import show_invalid
from hopwright.records import Item, Rejected
from hopwright.records.arrow import read_columns, read_derivations, read_rejected
from hopwright.records.base import Record
from hopwright.records.migration import parse_item
from hopwright.runs import Stage, rejected_path
from hopwright.runs.files import write_file
from hopwright.stages.selection import find_frame

FILE = "objections.json"
_CHECK = "objection_"
_OF_FRAMES = "unnatural"
"""The objection that is about a kind of plan; the others are about the facts of one."""
_LEAST, _SHARE = 2, 0.5
"""A kind of plan is avoided after so many objections to it, if they are at least this share of those that were sent."""


class ObjectedPlan(Record):
    """One plan that a model would not have asked: its id, why, its frame, and its question in the rules' words."""

    id: str
    kind: str
    reason: str
    frame: str
    question: str
    answer: str


class ObjectedFrame(Record):
    """One kind of plans: how many were sent to the model, and to how many it objected, by kind of objection."""

    frame: str
    sent: int
    kinds: dict[str, int] = Field(default_factory=dict)

    @property
    def objected(self) -> int:
        """Plans that the model objected to."""
        return sum(self.kinds.values())

    def is_unnatural(self) -> bool:
        """Whether plans of this kind should not be drawn again."""
        count = self.kinds.get(_OF_FRAMES, 0)
        return count >= _LEAST and count >= _SHARE * self.sent


class Objections(Record):
    """All objections of a run, by plan and by kind of plan, most first."""

    plans: tuple[ObjectedPlan, ...] = ()
    frames: tuple[ObjectedFrame, ...] = ()

    def find_reason(self, id: str, frame: str) -> str:
        """Why a plan is to be avoided; empty where it is not."""
        for plan in self.plans:
            if plan.id == id:
                return f"a model objected to it ({plan.kind}): {plan.reason}"
        for one in self.frames:
            if one.frame == frame and one.is_unnatural():
                return f"a model found {one.kinds[_OF_FRAMES]} of {one.sent} plans of its kind unnatural"
        return ""


def frame_item(item: Item) -> str:
    """The frame of an item, as selection sees it."""
    steps = []
    for hop in item.hops:
        values = hop.derivation.model_dump(mode="json")
        steps.append({"expression": "", "property": "", "constraints": [], **values})
    return find_frame(item.topology, steps)


def gather_objections(worded: Sequence[Stage]) -> Objections:
    """Read the objections off finished rounds of wording."""
    sent: Counter[str] = Counter()
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    plans: list[ObjectedPlan] = []
    for stage in worded:
        for index, part in enumerate(stage.parts()):
            topologies = [topology for (topology,) in read_columns(part, "topology")]
            sent.update(
                find_frame(topology, steps) for topology, steps in zip(topologies, read_derivations(part), strict=True)
            )
            for item, row in _list_rejected(read_rejected(rejected_path(stage.folder, index))):
                frame = frame_item(item)
                sent[frame] += 1
                if row.check.startswith(_CHECK):
                    kind = row.check.removeprefix(_CHECK)
                    kinds[frame][kind] += 1
                    plans.append(
                        ObjectedPlan(
                            id=row.key, kind=kind, reason=row.reason, frame=frame, question=item.question,
                            answer=item.answer,
                        )
                    )  # fmt: skip
    frames = [ObjectedFrame(frame=one, sent=sent[one], kinds=dict(kinds[one].most_common())) for one in kinds]
    return Objections(plans=tuple(plans), frames=tuple(sorted(frames, key=lambda one: (-one.objected, one.frame))))


def write_objections(objections: Objections, folder: Path) -> None:
    """Write the table of a run beside its yield report; a run without objections has none."""
    if objections.plans:
        write_file(folder / FILE, objections.model_dump_json(indent=2).encode() + b"\n")


def read_objections(file: Path) -> Objections:
    """Read such a table. Raises InputError for a file that is none."""
    try:
        return Objections.model_validate_json(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, ValidationError) as error:
        first = show_invalid(error) if isinstance(error, ValidationError) else "not UTF-8"
        raise InputError(f"{file}: not a table of objections ({FILE} of a run's synthesize/yield): {first}") from None


def _list_rejected(rows: Iterable[Rejected]) -> Iterable[tuple[Item, Rejected]]:
    for row in rows:
        try:
            yield parse_item(row.row), row
        except ValidationError:
            continue  # no draft was kept of it

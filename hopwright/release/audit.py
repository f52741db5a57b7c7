"""Auditing a file in the release format, ours or another's, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from hopwright.checks import CheckContext, CheckedItem, DuplicateFinder, Finding, examine
from hopwright.checks.near_duplicates import NearDuplicateFinder
from hopwright.checks.overlap import OverlapFinder, OverlapReport, OverlapScreen
from hopwright.counterfactual.real_names import find_real_wording
from hopwright.foreign import show
from hopwright.knowledge.external.tally import ClaimFigures, ClaimTally
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item, Rejected
from hopwright.records.base import Record
from hopwright.release.format import ReleaseRow, parse_row, read_jsonl
from hopwright.release.row_limits import find_controls
from hopwright.reporting.scorecard import Scorecard, ScorecardMaker
from hopwright.wording.llm.structure import MarkAudit

_LONGEST_ID = 200
_LONGEST_REASON = 1_000
_DUPLICATES = DuplicateFinder.name
_NEAR = NearDuplicateFinder.name
_OVERLAP = "overlap"
_MARKS = "marks"
_REAL_NAMES = "real_names"
_NO_MARKS = "its words are not marked by hop; whether they ask for its plan only a reader can say (--read)"
_NOTHING_GIVEN = "no file of published questions was given (--against)"


class Violation(Record):
    """One thing wrong: where in the file, in which item and hop (None: the item itself), by which check, and what."""

    line: int
    id: str
    hop: int | None
    check: str
    reason: str


class Skip(Record):
    """A check that could not run, why, and on how many items."""

    check: str
    reason: str
    items: int


class AuditReport(Record):
    """What an audit found. `violations` is complete: the file is clean if and only if it is empty."""

    file: str
    items: int
    violations: tuple[Violation, ...] = ()
    warnings: tuple[Violation, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict)
    """Check → number of violations; only checks that found some."""
    skipped: tuple[Skip, ...] = ()
    claims: ClaimFigures = ClaimFigures()
    """What rests on claims: numbers that no graph holds and no check proves. They are no violations."""
    overlap: OverlapReport | None = None
    """What the file was compared with and repeats of it; None where no file was given."""
    scorecard: Scorecard | None = None
    """Variety and guessability; None where it was not asked for. Its limits are no violations."""

    @property
    def clean(self) -> bool:
        """Whether nothing was found; the command's exit code is 0 exactly then."""
        return not self.violations

    def text(self, limit: int = 20) -> str:
        """Render for a reader, with at most `limit` violations spelled out."""
        lines = [f"{self.file}: {_count(self.items, 'item')}, {_count(len(self.violations), 'violation')}"]
        lines += [f"  {check}: {number}" for check, number in self.counts.items()]
        if self.claims.items:
            lines.append(f"{self.claims.describe()}; only an expert can say whether they are true")
        if self.violations:
            lines.append("")
            lines += [_write(one) for one in self.violations[:limit]]
            if len(self.violations) > limit:
                lines.append(f"… and {len(self.violations) - limit} more")
        if self.warnings:
            lines += ["", f"{_count(len(self.warnings), 'warning')}, such as:"]
            lines += [_write(one) for one in self.warnings[: min(3, limit)]]
        if self.skipped:
            lines += ["", "not checked:"]
            lines += [f"  {one.check}, {_count(one.items, 'item')}: {one.reason}" for one in self.skipped]
        if self.overlap is not None:
            lines += ["", *self.overlap.lines()]
        if self.scorecard is not None:
            lines += ["", "limits:"]
            lines += [f"  {one.text()}" for one in self.scorecard.thresholds]
        return "\n".join(lines)


def audit(
    path: Path,
    graph: GraphStore | None,
    table: PropertyTable,
    *,
    min_domains: int = 2,
    against: Sequence[Path] = (),
    scorecard: bool = False,
) -> AuditReport:
    """Check every line of a file; what is wrong with a line is a violation, never an exception.

    An empty file is a violation too. Without a graph, what needs one is listed as skipped. `against`: files of
    published questions; an item whose question one of them holds is a violation. `scorecard`: also measure variety and
    guessability. Raises InputError only when a file itself cannot be read.
    """
    context = CheckContext(table=table, graph=graph, min_domains=min_domains)
    tally = _AuditState(table, ScorecardMaker(context) if scorecard else None, against=against)
    for line, row in read_jsonl(path):
        tally.items += 1
        if isinstance(row, Rejected):
            tally.violations.append(Violation(line=line, id="", hop=None, check=row.check, reason=row.reason))
            continue
        _audit_row(line, row, context, tally)
    if not tally.items:
        tally.violations.append(Violation(line=0, id="", hop=None, check="schema", reason="the file holds no items"))
    overlap = _compare(against, tally, tally.overlap) if tally.overlap is not None else None
    if overlap is None and tally.items:
        tally.skipped[_OVERLAP, _NOTHING_GIVEN] = tally.items
    counts = Counter(one.check for one in tally.violations)
    return AuditReport(
        file=str(path),
        items=tally.items,
        violations=tuple(tally.violations),
        warnings=tuple(tally.warnings),
        counts=dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        skipped=tuple(
            Skip(check=check, reason=reason, items=number) for (check, reason), number in sorted(tally.skipped.items())
        ),
        claims=tally.claims.finish(),
        overlap=overlap,
        scorecard=tally.scorecard.finish() if tally.scorecard is not None else None,
    )


class _AuditState:
    """What has been found so far."""

    def __init__(self, table: PropertyTable, scorecard: ScorecardMaker | None, *, against: Sequence[Path]) -> None:
        self.items = 0
        self.violations: list[Violation] = []
        self.warnings: list[Violation] = []
        self.skipped: Counter[tuple[str, str]] = Counter()
        self.duplicates = DuplicateFinder()
        self.near = NearDuplicateFinder()
        self.overlap = OverlapFinder(OverlapScreen(against)) if against else None
        self.ids: dict[int, str] = {}
        self.scorecard = scorecard
        self.claims = ClaimTally()
        self.marks = MarkAudit(table)


def _audit_row(line: int, row: ReleaseRow, context: CheckContext, tally: _AuditState) -> None:
    id = str(row.get("id", ""))[:_LONGEST_ID]
    parsed = parse_row(row)
    tally.violations += [
        Violation(line=line, id=id, hop=one.hop, check="schema", reason=str(one)) for one in parsed.problems
    ]
    tally.violations += [
        Violation(line=line, id=id, hop=None, check="schema", reason=f"{path}: {what}")
        for path, what in find_controls(row)
    ]
    if parsed.item is None:
        return
    case = CheckedItem(parsed.item, planned=parsed.planned)
    if parsed.planned:
        tally.claims.add(parsed.item)
    for examination in examine(case, context):
        check = examination.check
        if examination.skipped:
            tally.skipped[check.name, examination.skipped] += 1
        found = tally.violations if check.severity == "error" else tally.warnings
        found += _name(line, id, check.name, examination.findings)
    if parsed.planned and not (tally.violations and tally.violations[-1].line == line):
        _check_marks(line, parsed.item, tally)
    if parsed.planned and not case.factual and (real := find_real_wording(parsed.item, context.table)):
        reason = f"{real!r} names something real, in a world that is invented"
        tally.violations.append(Violation(line=line, id=id, hop=None, check=_REAL_NAMES, reason=reason))
    repeats = tally.duplicates.add(case, line)
    tally.violations += _name(line, id, _DUPLICATES, repeats)
    near = tally.near.add(parsed.item.question, str(line))
    if near is not None and not repeats:
        # A twin says what its original says of other names: with few of them, two come near each other.
        found = tally.violations if case.factual else tally.warnings
        found += _name(line, id, _NEAR, [(None, f"nearly the question of item {near.key} ({near.share:.0%} the same)")])
    if tally.overlap is not None:
        tally.ids[line] = id
        tally.overlap.add_item(str(line), parsed.item)
    if tally.scorecard is not None:
        tally.scorecard.add(case)


def _check_marks(line: int, item: Item, tally: _AuditState) -> None:
    """Hold the marks of a question, where it has any, against its plan, which has passed everything else."""
    if not item.marked:
        tally.skipped[_MARKS, _NO_MARKS] += 1
        return
    faults = tally.marks.find_faults(item)
    tally.violations += [Violation(line=line, id=item.id, hop=None, check=_MARKS, reason=text) for text in faults]


def _compare(against: Sequence[Path], tally: _AuditState, finder: OverlapFinder) -> OverlapReport:
    for path in against:
        finder.compare(path)
    report = finder.report()
    for one in report.questions:
        line = int(one.key)
        reason = f"the question {one.describe()}"
        tally.violations.append(Violation(line=line, id=tally.ids[line], hop=None, check=_OVERLAP, reason=reason))
    return report


def _name(line: int, id: str, check: str, findings: Sequence[Finding]) -> Iterator[Violation]:
    for hop, reason in findings:
        yield Violation(line=line, id=id, hop=hop, check=check, reason=reason)


def _write(violation: Violation) -> str:
    where = f"line {violation.line}"
    if violation.id:
        where += f", {show(violation.id)}"
    if violation.hop is not None:
        where += f", hop {violation.hop}"
    return f"{where}: {violation.check}: {show(violation.reason, _LONGEST_REASON)}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

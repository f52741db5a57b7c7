"""Reading back in `hopwright audit --read`."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from flows.console.output import err
from hopwright.records import Item, Rejected
from hopwright.release.audit import AuditReport, Skip, Violation
from hopwright.release.format import parse_row, read_jsonl
from hopwright.settings import home

_CHECK = "reads-otherwise"


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """Which model reads, as endpoint/model; the endpoints file, None for none; dollars at most, None for no limit."""

    model: str
    endpoints: Path | None
    budget_usd: float | None


def add_reading(file: Path, report: AuditReport, options: ReadingOptions) -> AuditReport:
    """The report with what a model understands otherwise than the file's plans; what it could not read is a skip.

    Raises InputError for a model that cannot be asked, and what ends the asking.
    """
    from hopwright.knowledge.wikidata.properties import default_table
    from hopwright.llm.config import read_settings
    from hopwright.llm.types import parse_model
    from hopwright.stages.models import STORE, ModelAccess, name_command, open_models
    from hopwright.stages.reading_back import read_back
    from tasks.models import require_models

    lines: list[int] = []
    items: list[Item] = []
    planless = 0
    for line, row in read_jsonl(file):
        parsed = None if isinstance(row, Rejected) else parse_row(row)
        if parsed is None or parsed.item is None or parsed.problems:
            continue  # the audit itself says what is wrong with it
        if not parsed.planned:
            planless += 1
            continue
        lines.append(line)
        items.append(parsed.item)
    read_settings(options.endpoints).endpoint(parse_model(options.model).provider)
    run = name_command("audit", str(file.absolute()), options.model)
    access = ModelAccess(options.endpoints, home() / STORE, run, options.budget_usd, (options.model,))
    require_models(access, blocks=False)
    home().mkdir(parents=True, exist_ok=True)
    with err.status(f"{options.model} reads {len(items)} questions back"):
        rows = read_back(items, options.model, open_models(access), default_table())
    found = [
        Violation(line=line, id=row.item.id, hop=None, check=_CHECK, reason=row.differs)
        for line, row in zip(lines, rows, strict=True)
        if row.differs
    ]
    reasons = Counter(row.unread for row in rows if row.unread)
    if planless:
        reasons["the row states no plan to compare with"] += planless
    skipped = tuple(Skip(check=_CHECK, reason=reason, items=number) for reason, number in sorted(reasons.items()))
    counts = {**report.counts, **({_CHECK: len(found)} if found else {})}
    return report.model_copy(
        update={
            "violations": (*report.violations, *found),
            "skipped": (*report.skipped, *skipped),
            "counts": dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
        }
    )

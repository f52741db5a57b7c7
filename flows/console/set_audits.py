"""What an audit of a folder of questions about pictures or novels found, shown in the terminal."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from flows.console.output import out, print_json
from hopwright.errors import InputError

if TYPE_CHECKING:
    from hopwright.novels.audit import NovelAudit
    from hopwright.pictures.audit import PictureAudit

_SHOWN = 20


def show_audit(report: "NovelAudit | PictureAudit", media: str, folder: Path, *, as_json: bool) -> None:
    """Print the violations, what was skipped and the counts; `media`: how many pictures or windows were read.

    Raises InputError where something is wrong.
    """
    if as_json:
        print_json(asdict(report))
    else:
        for one in report.violations[:_SHOWN]:
            out.out(f"{one.check}: {one.item or 'the set'}: {one.reason}")
        for name, why in report.skipped.items():
            out.out(f"skipped: {name}: {why}")
        out.out(
            f"{report.items:,} items, {report.twins:,} twins, {media}: "
            f"{len(report.violations):,} violations of {len(report.checks)} checks"
        )
    if report.violations:
        raise InputError(f"{folder}: {len(report.violations):,} violations")

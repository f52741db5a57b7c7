"""`hopwright review push`: what came of it."""

import json

from flows.console.options import pick_run
from flows.console.output import out
from hopwright.settings import home

_MOST_REFUSALS = 10


def show_pushed(run: str | None) -> None:
    """Print what the last push did, project by project, and what it left alone."""
    reports = json.loads((home() / "runs" / pick_run(run, "review") / "review" / "pushed.json").read_text("utf-8"))
    for report in reports:
        out.print(f"{report['title']}: {report['summary']}")
        for refusal in report["refused"][:_MOST_REFUSALS]:
            out.print(f"  left as it is: {refusal['key']}, {refusal['reason']}")
        if (more := len(report["refused"]) - _MOST_REFUSALS) > 0:
            out.print(f"  and {more:,} more")

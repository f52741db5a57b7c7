"""`hopwright review push`: which server, and what came of it."""

import json
import os

from annotation.access import URL_VARIABLE, access_file, read_access
from flows.console.options import pick_run
from flows.console.output import out
from hopwright.errors import InputError
from hopwright.settings import home

_MOST_REFUSALS = 10


def find_server(url: str | None) -> str:
    """The server's address: the option, LABEL_STUDIO_URL, or the one that `make serve` started here.

    Raises InputError when none of them says.
    """
    found = url or os.environ.get(URL_VARIABLE, "")
    if found:
        return found
    access = read_access(access_file())
    if access is None:
        raise InputError(f"which Label Studio? give --url http://…, or set {URL_VARIABLE}")
    return access.url


def show_pushed(run: str | None) -> None:
    """Print what the last push did, project by project, and what it left alone."""
    reports = json.loads((home() / "runs" / pick_run(run) / "review" / "pushed.json").read_text("utf-8"))
    for report in reports:
        out.print(f"{report['title']}: {report['summary']}")
        for refusal in report["refused"][:_MOST_REFUSALS]:
            out.print(f"  left as it is: {refusal['key']}, {refusal['reason']}")
        if (more := len(report["refused"]) - _MOST_REFUSALS) > 0:
            out.print(f"  and {more:,} more")

"""`hopwright publish`."""

import sys
from collections.abc import Callable
from pathlib import Path

from flows.console.options import pick_run
from flows.console.output import err, out, prefect_ready, print_json
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.release.hub import UploadPlan, plan_upload, publish_release
from hopwright.runs import RunFolder, Stage
from hopwright.settings import home


def publish(
    folder: Path | None, to: str, graph: Path | None, run: str | None, *, private: bool, dry_run: bool, as_json: bool
) -> None:
    """Show what would be uploaded, or upload it; exits with 1 when the release is not fit for it."""
    place = folder or _find_release(run)
    with err.status(f"looking at {place}"):
        plan = plan_upload(place, to, GraphStore.open(graph) if graph is not None else None)
    address = ""
    if not dry_run and not plan.refusals:
        token = _find_token()
        with err.status(f"uploading to {to}"):
            address = publish_release(plan, token, private=private)
    if as_json:
        print_json({**plan.to_dict(), "commit": address})
    else:
        _print(plan, dry_run)
        if address:
            out.print(f"published: {address}, tag {plan.tag}")
    if plan.refusals:
        sys.exit(1)


def _print(plan: UploadPlan, dry_run: bool) -> None:
    if dry_run or plan.refusals:
        for one in plan.files:
            out.out(f"{one.bytes:>12,}  {one.path}")
        out.out(f"{plan.bytes:>12,}  in {len(plan.files)} files")
        out.out(f"to {plan.repo}, commit {plan.message!r}, tag {plan.tag}")
    for refusal in plan.refusals:
        out.out(f"refused: {refusal}")
    if dry_run and not plan.refusals:
        out.out("nothing was sent (dry run)")


def _find_release(run: str | None) -> Path:
    return home() / str(Stage(RunFolder(home(), pick_run(run, "release")), "release").read().notes["folder"])


def _find_token() -> str:
    from tasks.publish import find_known_token

    token = find_known_token()
    if token:
        return token
    with prefect_ready(_import_reader) as read_token:
        return read_token()


def _import_reader() -> Callable[[], str]:
    from tasks.publish import read_token

    return read_token

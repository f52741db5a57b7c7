"""How the command line speaks: results on stdout, progress on stderr."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from hopwright.errors import ServiceError

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    out.out(json.dumps(value, indent=2, ensure_ascii=False))


class StageBars:
    """A bar per stage on a terminal; a line per stage, at its start and its end, in a log."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}

    def update(self, stage: str, done: int, total: int) -> None:
        """A stage has got so far."""
        if not err.is_terminal:
            if stage not in self._bars:
                self._bars[stage] = TaskID(0)
                err.print(f"{stage}: {done} of {total} shards")
            elif done == total:
                err.print(f"{stage}: done")
            return
        if stage not in self._bars:
            self._bars[stage] = self._progress.add_task(stage, total=total)
        self._progress.update(self._bars[stage], completed=done)


@contextlib.contextmanager
def show_stages() -> Iterator[None]:
    """Show how far the stages are while the block runs."""
    from tasks.progress import listen

    columns = (TextColumn("{task.description:20}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as progress:
        listen(StageBars(progress).update)
        yield


@contextlib.contextmanager
def prefect_at_hand() -> Iterator[None]:
    """Ready Prefect, with a server or without one. Raises RunError or ServiceError when it cannot be used."""
    from flows.local import prepare_prefect
    from hopwright.settings import home

    prepare_prefect(home())
    with err.status("starting Prefect"):
        from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    url = PREFECT_API_URL.value()
    # Heartbeats tell a server which flows have crashed. Without one, each subflow would only wait for its last beat.
    quiet: dict[Any, Any] = {} if url else {PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}
    try:
        with temporary_settings(updates=quiet):
            yield
    except RuntimeError as error:
        if "reach API" not in str(error) and "ephemeral Prefect API" not in str(error):
            raise
        raise ServiceError(
            f"no Prefect server answers at {url}: start it, or unset PREFECT_API_URL to run without one"
            if url
            else f"Prefect could not start its own server in {home() / 'prefect'}: remove that folder and run again"
        ) from None

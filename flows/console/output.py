"""How the command line speaks: results on stdout, progress on stderr."""

import contextlib
import gc
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.status import Status

from flows.local import find_full_disk, prefect_server
from hopwright.errors import RunError, ServiceError
from hopwright.foreign import escape_controls, escape_json, escape_page
from hopwright.settings import home
from tasks.interrupts import remember_interrupts

_T = TypeVar("_T")
_LOG_EVERY_S = 30.0
_LOST = "Prefect's server is gone ({}): when it is there again, run the same command again, it continues"


class PlainConsole(Console):
    """A console on which a text is only text: what it holds is no markup, and tells the terminal nothing.

    Ids, labels and questions come from files and servers of others; what is coloured is a `rich.text.Text` of ours.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, with control characters as escapes."""
        super().print(*map(_make_plain, objects), **{"markup": False, **options})

    def out(self, *objects: Any, **options: Any) -> None:
        """Print as it is, with control characters as escapes."""
        super().out(*map(_make_plain, objects), **options)

    def status(self, status: Any, **options: Any) -> Any:
        """Show what is being done."""
        return super().status(escape(escape_controls(str(status))), **options)


def _make_plain(value: Any) -> Any:
    return escape_page(value) if isinstance(value, str) else value


out = PlainConsole(highlight=False, soft_wrap=True)
err = PlainConsole(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    out.out(escape_json(json.dumps(value, indent=2, ensure_ascii=False)))


def describe_value(value: Any) -> str:
    """A note of a manifest in words: `items 44, twins 42`; of what is kept or not, how many and which are not."""
    if isinstance(value, Mapping):
        if value and all(isinstance(one, bool) for one in value.values()):
            broken = [name for name, kept in value.items() if not kept]
            return f"{len(value) - len(broken)} of {len(value)} kept" + (f"; not {', '.join(broken)}" if broken else "")
        parts = [
            f"{name} ({describe_value(one)})" if isinstance(one, Mapping) and one else f"{name} {describe_value(one)}"
            for name, one in value.items()
        ]
        return ", ".join(parts).replace("_", " ") or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(describe_value, value)) or "none"
    if isinstance(value, bool) or value in (None, ""):
        return "yes" if value else "no" if value is False else "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


class ProgressLine:
    """What is being done: on a terminal one line that changes, in a log a line now and then."""

    def __init__(self, status: Status, line: str) -> None:
        self._status = status
        self._line = line
        self._began = time.monotonic()
        self._told = -_LOG_EVERY_S

    def __call__(self, line: str) -> None:
        self._line = line
        self._status.update(escape(escape_controls(line)))
        if not err.is_terminal and time.monotonic() - self._told >= _LOG_EVERY_S:
            err.print(line)
            self._told = time.monotonic()

    def repeat(self, done: threading.Event) -> None:
        """Until it is done, say in a log now and then that the same goes on."""
        while not done.wait(_LOG_EVERY_S):
            if time.monotonic() - self._told >= _LOG_EVERY_S:
                err.print(f"{self._line} ({time.monotonic() - self._began:.0f} s so far)")
                self._told = time.monotonic()


@contextlib.contextmanager
def tell_progress(line: str) -> Iterator[ProgressLine]:
    """Show what is being done; call what it yields with a further line."""
    with err.status(line) as status:
        told = ProgressLine(status, line)
        if err.is_terminal:
            yield told
            return
        done = threading.Event()
        thread = threading.Thread(target=told.repeat, args=(done,), daemon=True)
        thread.start()
        try:
            yield told
        finally:
            done.set()
            thread.join()


class StageBars:
    """A bar per stage on a terminal; in a log a line per stage at its start and its end, and now and then between."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}
        self._told: dict[str, float] = {}
        self._told_of_models: dict[str, float] = {}

    def update(self, stage: str, done: int, total: int) -> None:
        """A stage has got so far."""
        if not err.is_terminal:
            if stage not in self._bars:
                self._bars[stage] = TaskID(0)
                err.print(f"{stage}: {done} of {total} shards")
                self._told[stage] = time.monotonic()
            elif done == total:
                err.print(f"{stage}: done")
            elif time.monotonic() >= self._told[stage] + _LOG_EVERY_S:
                self._told[stage] = time.monotonic()
                err.print(f"{stage}: {done} of {total} shards")
            return
        if stage not in self._bars:
            self._bars[stage] = self._progress.add_task(stage, total=total, models="")
        self._progress.update(self._bars[stage], completed=done)

    def update_models(self, stage: str, line: str, last: bool) -> None:
        """How the stage's requests to language models are going; a log gets a line in half a minute, and the last."""
        if err.is_terminal:
            if stage in self._bars:
                self._progress.update(self._bars[stage], models=escape_controls(line))
        elif last or time.monotonic() > self._told_of_models.get(stage, -_LOG_EVERY_S) + _LOG_EVERY_S:
            self._told_of_models[stage] = time.monotonic()
            err.print(f"{stage}: {line}", soft_wrap=True)


@contextlib.contextmanager
def show_stages() -> Iterator[None]:
    """Show how far the stages are while the block runs."""
    from tasks.live import listen

    columns = (
        TextColumn("{task.description:20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[models]}", markup=False),
    )
    with Progress(*columns, console=err, disable=not err.is_terminal) as progress:
        bars = StageBars(progress)
        listen(bars.update, bars.update_models)
        yield


@contextlib.contextmanager
def prefect_ready(load: Callable[[], _T]) -> Iterator[_T]:
    """Prefect at hand, with a server or without; `load` imports the flows, while a server of our own starts."""
    remember_interrupts()
    with prefect_server(home()) as wait:
        with err.status("starting Prefect"):
            loaded = load()
            wait()
        # What is imported stays to the end: to look through it for garbage then would take half a second.
        gc.freeze()
        from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

        # Heartbeats tell a lasting server which flows have crashed; every subflow's end waits for one to stop.
        quiet: dict[Any, Any] = {PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}
        with temporary_settings(updates=quiet), _explain_lost_server():
            yield loaded


@contextlib.contextmanager
def _explain_lost_server() -> Iterator[None]:
    """Say in one line that Prefect's server went away; what goes wrong for a moment, its client tries again."""
    import httpx
    from prefect.exceptions import PrefectHTTPStatusError

    try:
        yield
    except (httpx.TransportError, PrefectHTTPStatusError) as error:
        _blame_disk()
        raise ServiceError(_LOST.format(" ".join(str(error).split())[:200] or type(error).__name__)) from None
    except RuntimeError as error:
        if not str(error).startswith("Failed to reach API"):
            raise
        _blame_disk()
        raise ServiceError(_LOST.format(error)) from None
    finally:
        _quiet_senders()


def _quiet_senders() -> None:
    """Keep Prefect from telling at the exit what it has still to send: the command's last line is ours."""
    for name in ("EventsWorker", "APILogWorker"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _blame_disk() -> None:
    """Raise RunError where Prefect's server is gone because the disk under its database is full."""
    if reason := find_full_disk(home()):
        raise RunError(reason) from None

"""How far a stage is, while it works: a bar, a page of figures, a line per shard in the flow's log; and listeners."""

from __future__ import annotations

import json
import logging
import re
import time
from collections import Counter
from collections.abc import Callable
from typing import cast
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.logging import get_run_logger

from hopwright.llm.progress import write_seconds
from hopwright.runs import ShardReport
from tasks.flow_context import in_flow

_BEAT_S = 2.0
"""The artifacts are brought up to date no more often than this."""
_SHOWN = 3
_NO_KEY = re.compile(r"[^a-z0-9-]+")
_log = logging.getLogger(__name__)

Listener = Callable[[str, int, int], None]
"""Called with a stage's name, shards done, shards in all."""

ModelListener = Callable[[str, str, bool], None]
"""Called with a stage's name, a line on how its requests to language models are going, and whether it is the last."""

_listeners: list[Listener] = []
_model_listeners: list[ModelListener] = []


def listen(listener: Listener, model_listener: ModelListener | None = None) -> None:
    """Add a listener for the life of this process, and one for what language models are asked."""
    _listeners.append(listener)
    if model_listener is not None:
        _model_listeners.append(model_listener)


def tell(stage: str, done: int, total: int) -> None:
    """Tell all listeners."""
    for listener in _listeners:
        listener(stage, done, total)


def report_model_progress(stage: str, line: str, *, last: bool = False) -> None:
    """Tell how a stage's requests are going."""
    for listener in _model_listeners:
        listener(stage, line, last)


class LiveArtifact:
    """A page of text, or a table of rows, that is made when it is first shown and brought up to date after."""

    def __init__(self, key: str, description: str) -> None:
        self._key, self._description = key, description
        self._id: UUID | None = None

    def show(self, content: str | list[dict[str, str]]) -> None:
        """Publish what it holds now; a flow must be running."""
        if self._id is not None:
            data = content if isinstance(content, str) else json.dumps(content)
            get_client(sync_client=True).update_artifact(self._id, ArtifactUpdate(data=data))
            return
        # Prefect's functions are typed as both kinds; called from synchronous code they return the id itself.
        made = (
            create_markdown_artifact(key=self._key, markdown=content, description=self._description)
            if isinstance(content, str)
            else create_table_artifact(key=self._key, table=content, description=self._description)
        )
        self._id = cast(UUID, made)


class StageProgress:
    """The progress of one stage of `total` shards, `done` of which an earlier start had made.

    `unit` names what a row is. What cannot be shown is logged: it is no reason to lose what is made.
    """

    def __init__(self, stage: str, total: int, done: int, unit: str = "rows") -> None:
        self._stage, self._unit = stage, unit
        self._total, self._found = total, done
        self._made = 0
        self._taken = self._out = 0
        self._rejected: Counter[str] = Counter()
        self._dollars = 0.0
        self._began = self._shown = time.monotonic()
        tell(stage, done, total)
        self._bar: UUID | None = None
        self._page = LiveArtifact(name_artifact(stage, "live"), f"{stage}: rate, yield, time left")
        if in_flow():
            earlier = f", {done:,} of them there from an earlier start" if done else ""
            get_run_logger().info("%s begins: %s%s", stage, _count(total, "shard"), earlier)
            self._bar = cast(
                UUID,
                create_progress_artifact(
                    progress=self._percent(), key=name_artifact(stage, "progress"), description=f"Shards of {stage}"
                ),
            )

    def advance(self, report: ShardReport | None = None) -> None:
        """One more shard is done; its report says what it made."""
        self._made += 1
        if report is not None:
            self._taken += report.counts.taken
            self._out += report.counts.out
            self._rejected.update(report.counts.rejected)
            self._dollars += report.usage.cost_usd
        done = self._found + self._made
        tell(self._stage, done, self._total)
        if self._bar is None:
            return
        if report is not None:
            get_run_logger().info("%s", describe_shard(self._stage, report))
        now = time.monotonic()
        if done == self._total or now > self._shown + _BEAT_S:
            self._shown = now
            try:
                self._show()
            except Exception as error:
                _log.warning("the progress of %s could not be shown: %s", self._stage, error)

    def render(self) -> str:
        """The page of figures, in Markdown."""
        done, seconds = self._found + self._made, time.monotonic() - self._began
        shards = f"{done:,} of {self._total:,}"
        if self._found:
            shards += f", {self._found:,} from an earlier start"
        rows = [("Shards", shards)]
        if self._taken:
            rows.append((self._unit.capitalize(), f"{self._taken:,} in, {self._out:,} out"))
            rows.append(("Yield", f"{self._out / self._taken:.1%}"))
            rows.append(("Rate", f"{self._taken / max(seconds, 1e-9):,.1f} in a second"))
        if self._rejected:
            worst = ", ".join(f"{check} {rows:,}" for check, rows in self._rejected.most_common(_SHOWN))
            rows.append(("Rejected most", worst))
        if self._dollars:
            rows.append(("Dollars", f"{self._dollars:,.4f} by these shards"))
        if self._made and done < self._total:
            rows.append(("Time left", f"about {write_seconds(seconds / self._made * (self._total - done))}"))
        elif done == self._total:
            rows.append(("Time", write_seconds(seconds)))
        return "\n".join(
            [f"# {self._stage}", "", "| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows)]
        )

    def _show(self) -> None:
        assert self._bar is not None
        update_progress_artifact(self._bar, progress=self._percent())
        self._page.show(self.render())

    def _percent(self) -> float:
        return 100.0 * (self._found + self._made) / self._total if self._total else 100.0


def describe_shard(stage: str, report: ShardReport) -> str:
    """What became of one shard, in a line, with the id of one row that each check rejected."""
    counts = report.counts
    line = f"{stage}, shard {report.index}: {counts.taken:,} in, {counts.out:,} out"
    rejected = sorted(counts.rejected.items(), key=lambda pair: (-pair[1], pair[0]))
    if rejected:
        line += "; rejected " + ", ".join(
            f"{rows:,} {check}" + (f" (such as {report.examples[check]})" if check in report.examples else "")
            for check, rows in rejected[:_SHOWN]
        )
        if len(rejected) > _SHOWN:
            line += f" and {sum(rows for _, rows in rejected[_SHOWN:]):,} more"
    return line


def name_artifact(stage: str, kind: str) -> str:
    """The key of a stage's artifact: Prefect takes small letters, digits and dashes."""
    return f"{_NO_KEY.sub('-', stage.lower())}-{kind}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"

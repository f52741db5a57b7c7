"""What of an episode a policy wrote and what it was shown: the loss is taken over the first alone.

Results of searches and what is said of malformed calls come from outside, so MMhops-R1 (Loss Masking for External
Observations) and Search-R1 leave their tokens out of the loss. Here that is known to the character.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hopwright.llm.types import Message

_SHOWN = ("<information>", "</information>")
"""What stands around results where actions are written as tags (Search-R1's notation)."""
_CALL = ("<tool_call>", "</tool_call>")


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A dialogue as one text, and the stretches that the policy wrote: characters from and to, in order."""

    text: str
    written: tuple[tuple[int, int], ...]

    @property
    def shown(self) -> tuple[tuple[int, int], ...]:
        """The other stretches: the question, results, what is said of malformed calls, ends of turns."""
        edges = [0, *(place for span in self.written for place in span), len(self.text)]
        return tuple((a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b)


def render_masked(messages: Iterable[Message]) -> MaskedText:
    """Turns one after the other; those of the assistant are the policy's, with the calls that it made.

    For policies that write tags. A chat template has a rendering of its own: `mask_messages` says which of its
    messages count.
    """
    parts: list[str] = []
    written: list[tuple[int, int]] = []
    place = 0
    for message in messages:
        shown = _write(message)
        if message.role == "assistant" and shown:
            written.append((place, place + len(shown)))
        parts += (shown, "\n")
        place += len(shown) + 1
    return MaskedText("".join(parts), tuple(written))


def mask_messages(messages: Iterable[Message]) -> list[int]:
    """1 for each message that the policy wrote, else 0."""
    return [int(message.role == "assistant") for message in messages]


def mask_tokens(offsets: Sequence[tuple[int, int]], written: Sequence[tuple[int, int]]) -> list[int]:
    """1 for each token of which every character was written by the policy, else 0.

    `offsets` are the characters of each token, from and to, as tokenizers give them. A token without characters counts
    as shown, and so does one that lies across a border: the policy did not choose it as it stands.
    """
    starts = [start for start, _ in written]
    mask: list[int] = []
    for start, end in offsets:
        place = bisect.bisect_right(starts, start) - 1
        mask.append(int(start < end and place >= 0 and end <= written[place][1]))
    return mask


def _write(message: Message) -> str:
    if message.role == "tool":
        return message.content.join(_SHOWN)
    calls = [json.dumps({"name": call.name, "arguments": call.arguments}).join(_CALL) for call in message.calls]
    return message.content + "".join(calls)

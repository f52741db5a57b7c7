"""Drawing SVG files in a process of their own: the renderer ends its process where a picture asks for too much.

One process draws many pictures, and the next picture gets a new one where it ended. It has bounds of memory and of time
for each picture, and can open no file.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, cast

from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.knowledge.images.svg_files import SvgError

_PAINTER = Path(__file__).with_name("svg_painter.py")
_MEMORY = 1 << 30
_SECONDS = 20
"""Of computing, for one picture. A flag takes a hundredth of one."""
_PATIENCE_S = 120
"""Until a picture is given up that does not compute either."""
_LONGEST_ANSWER = 1 << 28


class SvgDrawer:
    """Draws SVG files; several threads may ask at once, and wait for one another."""

    def __init__(self, memory: int = _MEMORY, seconds: int = _SECONDS) -> None:
        """`memory` in bytes; `seconds` of computing for one picture."""
        self._memory = memory
        self._seconds = seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def draw(self, text: str, width: int) -> bytes:
        """A PNG that is `width` pixels wide.

        Raises SvgError for what cannot be drawn, InputError where the renderer is not installed.
        """
        data = text.encode("utf-8", "replace")
        with self._lock:
            try:
                kind, said = self._ask(struct.pack("<II", width, len(data)) + data)
            except BaseException:
                # What was left of this picture would be taken for the next one.
                self._end()
                raise
        if kind == b"P":
            return said
        raise SvgError(f"not an SVG picture ({show(said.decode('utf-8', 'replace'))})")

    def close(self) -> None:
        """End the process; the next picture starts another."""
        with self._lock:
            self._end()

    def _ask(self, picture: bytes) -> tuple[bytes, bytes]:
        process = self._start()
        head, said, length = b"", b"", 0
        watch = threading.Timer(_PATIENCE_S, process.kill)
        watch.daemon = True
        watch.start()
        try:
            sink, source = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
            sink.write(picture)
            sink.flush()
            head = source.read(5)
            if len(head) == 5:
                (length,) = struct.unpack("<I", head[1:])
            if length > _LONGEST_ANSWER:
                raise SvgError(f"an SVG that makes a PNG of {length:,} bytes")
            said = source.read(length)
        except BrokenPipeError:
            pass  # it ended before it had the whole picture
        finally:
            watch.cancel()
        if len(head) < 5 or len(said) < length:
            raise SvgError(self._explain_end(process))
        return head[:1], said

    def _explain_end(self, process: subprocess.Popen[bytes]) -> str:
        code = -process.wait()
        if code <= 0:
            raise InputError("the renderer of SVG pictures cannot be started: install resvg-py anew, or free memory")
        if code in (signal.SIGXCPU, signal.SIGKILL):
            return f"an SVG that takes more than {self._seconds} seconds to draw"
        name = signal.Signals(code).name if code in set(signal.Signals) else f"signal {code}"
        return f"an SVG that takes more than {self._memory >> 20:,} MiB or too many levels to draw ({name})"

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        command = [sys.executable, "-I", str(_PAINTER), str(self._memory), str(self._seconds), _find_renderer()]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        # Closes the pipes, too, and waits.
        process.communicate()


def draw_svg(text: str, width: int) -> bytes:
    """A PNG of an SVG file, drawn by the one process that draws for this one. Raises as `SvgDrawer.draw` does."""
    return _drawers[0].draw(text, width)


def _find_renderer() -> str:
    """The folder that the renderer's package lies in."""
    found = importlib.util.find_spec("resvg_py")
    if found is None or found.origin is None:
        raise InputError("SVG pictures need the package resvg-py: pip install 'hopwright[pictures]'")
    place = Path(found.origin).parent
    return str(place.parent if found.submodule_search_locations else place)


def _begin_anew() -> None:
    """In a fork: the process and its pipes are the parent's, and so may the lock be."""
    _drawers[0] = SvgDrawer()


def _close() -> None:
    _drawers[0].close()


_drawers = [SvgDrawer()]
os.register_at_fork(after_in_child=_begin_anew)
atexit.register(_close)

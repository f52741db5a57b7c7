"""Draws SVG files for another process, which it may take down with none but itself.

Usage: `python -I svg_painter.py MEMORY SECONDS FOLDER`: bytes of memory, seconds of one picture, and the folder that
has the renderer. On stdin comes a picture's width in pixels and its length in bytes, 32 bits each, and the file. Out go
one byte, the length of what follows, and the PNG (`P`) or the reason why there is none (`E`). It ends with stdin.
"""

from __future__ import annotations

import contextlib
import math
import resource
import struct
import sys


def main() -> None:
    """Draw pictures until stdin ends."""
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    sys.path.append(sys.argv[3])
    import resvg_py

    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, memory)
    # stdin, stdout and stderr are open, and from here on nothing else can be: no picture reads a file.
    _limit(resource.RLIMIT_NOFILE, 3)
    while len(head := sys.stdin.buffer.read(8)) == 8:
        width, length = struct.unpack("<II", head)
        _limit(resource.RLIMIT_CPU, math.ceil(_count_seconds()) + seconds)
        try:
            text = sys.stdin.buffer.read(length).decode("utf-8")
            # Without the system's fonts the pixels depend on nothing but the file and the renderer's version.
            kind, said = b"P", resvg_py.svg_to_bytes(svg_string=text, width=width, skip_system_fonts=True)
        except BaseException as error:  # a panic of the renderer is no Exception
            kind, said = b"E", (str(error) or type(error).__name__).encode("utf-8", "replace")
        sys.stdout.buffer.write(kind + struct.pack("<I", len(said)) + said)
        sys.stdout.buffer.flush()


def _limit(what: int, most: int) -> None:
    """Bound something, where this system can and has no lower bound yet."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def _count_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()

"""The command line with few pilot plans, which every worker process of a build would draw for ten seconds."""

from __future__ import annotations

from flows.cli import main
from tests.pilots import draw_few

draw_few()

if __name__ == "__main__":
    main()

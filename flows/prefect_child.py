"""Prefect's API on a free port, until stdin closes: the child process of `flows.local`, for the length of one run."""

import os
import socket
import sys
import threading
from typing import Any

_GRACE_SECONDS = 5.0


def main() -> None:
    """Say the port on stdout at once, then import Prefect and serve; requests wait in the socket's queue until then."""
    # Of a socket that does not name its protocol asyncio leaves Nagle's algorithm on, and every answer waits for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    import uvicorn
    from prefect.server.api.server import create_app

    app: Any = create_app(ephemeral=True, final=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
    threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    server.run(sockets=[listener])
    # Everything is stored by now; to take down what Prefect has loaded would keep the command waiting for seconds.
    os._exit(0)


def _end_with_parent(server: Any) -> None:
    """A closed stdin means that the parent has ended, by itself or by a SIGKILL."""
    sys.stdin.read()
    server.should_exit = True
    threading.Timer(_GRACE_SECONDS, setattr, (server, "force_exit", True)).start()


if __name__ == "__main__":
    main()

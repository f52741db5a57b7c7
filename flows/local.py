"""Prefect without a server: its database, its settings and its silence, set before it is imported."""

import logging
import os
from pathlib import Path

from hopwright.runs.files import explain_os_errors


def prepare_prefect(home: Path, *, quiet: bool = True) -> None:
    """Set what Prefect reads from the environment at import; what is set there already is left alone.

    With PREFECT_API_URL set, flows report to that server. Without, Prefect starts one for the length of the run, on a
    database in our own folder, and no telemetry leaves the machine in either case. Raises RunError when that folder
    cannot be written.
    """
    settings = {
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
        "PREFECT_CLI_COLORS": "false",
    }
    if not os.environ.get("PREFECT_API_URL"):
        settings["PREFECT_HOME"] = str(home / "prefect")
        settings["PREFECT_SERVER_ALLOW_EPHEMERAL_MODE"] = "true"
        # Prefect's own server does not make the folders above its own, and then waits in vain for itself.
        with explain_os_errors(home):
            (home / "prefect").mkdir(parents=True, exist_ok=True)
    if quiet:
        settings |= dict.fromkeys(("PREFECT_LOGGING_LEVEL", "PREFECT_LOGGING_INTERNAL_LEVEL"), "CRITICAL")
    for name, value in settings.items():
        os.environ.setdefault(name, value)
    if quiet:
        logging.getLogger("prefect").setLevel(logging.CRITICAL)

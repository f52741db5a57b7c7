"""`hopwright environment …`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.console.corpus import find_folder
from flows.console.options import merge_options
from flows.console.output import out, print_json
from hopwright.environments.tools import CorpusFinder
from hopwright.errors import InputError
from hopwright.knowledge.documents.index import Retriever
from hopwright.runs.files import hash_file
from hopwright.settings import EnvironmentServeParameters, load_parameters
from hopwright.training.episodes import EpisodePool
from hopwright.training.journal import Journal, read_journal
from hopwright.training.server import EpisodeService, make_app
from hopwright.training.summaries import tabulate_results
from hopwright.training.task_files import TASKS, read_tasks


def serve(tasks: Path, options: Mapping[str, Any]) -> None:
    """Serve episodes until Ctrl-C."""
    import uvicorn

    parameters = load_parameters(merge_options({}, options), EnvironmentServeParameters)
    lines = read_tasks(tasks)
    retriever = Retriever.open(find_folder(parameters))
    finder = CorpusFinder(retriever)
    file = tasks / TASKS if tasks.is_dir() else tasks
    basis = {"tasks": hash_file(file), "corpus": retriever.store.manifest.content, "search": retriever.describe()}
    journal = Journal(Path(parameters.journal).expanduser(), basis)
    pool = EpisodePool(lines, finder, journal)
    out.out(f"{len(lines):,} tasks, {pool.open:,} open episodes, journal {journal.path}")
    application = make_app(EpisodeService(pool, finder))
    server = uvicorn.Server(
        uvicorn.Config(application, host=parameters.host, port=parameters.port, log_level="warning")
    )
    try:
        server.run()
    except SystemExit:
        # uvicorn has logged why it could not listen.
        raise InputError(f"cannot listen at {parameters.host}, port {parameters.port}: take another --port") from None
    finally:
        journal.close()


def report(journal: Path, tasks: Path, *, as_json: bool) -> None:
    """Tables of what the episodes of a journal came to."""
    entries = read_journal(journal)
    ended = [entry for entry in entries if "end" in entry]
    tables = tabulate_results(read_tasks(tasks), ended)
    if not tables:
        raise InputError(f"{journal}: no episode of these tasks has ended")
    if as_json:
        print_json({table.name: table.rows for table in tables})
        return
    for table in tables:
        out.out(f"{table.title} ({table.note})")
        for row in table.rows:
            shown = [
                f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
            ]
            out.out("  " + ", ".join(shown))

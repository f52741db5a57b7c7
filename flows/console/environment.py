"""`hopwright environment …`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.console.corpus import find_folder
from flows.console.options import merge_options
from flows.console.output import out, print_json
from hopwright.environments.tools import CorpusFinder, PassageFinder
from hopwright.errors import InputError
from hopwright.knowledge.documents.index import Retriever
from hopwright.runs.files import hash_file
from hopwright.settings import EnvironmentServeParameters, load_parameters
from hopwright.training.episodes import EpisodePool
from hopwright.training.journal import Journal, read_journal
from hopwright.training.server import EpisodeService, make_app
from hopwright.training.summaries import tabulate_results
from hopwright.training.task_files import TASKS, TaskLine, read_tasks


def serve(tasks: Path, options: Mapping[str, Any]) -> None:
    """Serve episodes until Ctrl-C."""
    import uvicorn

    parameters = load_parameters(merge_options({}, options), EnvironmentServeParameters)
    lines = read_tasks(tasks)
    file = tasks / TASKS if tasks.is_dir() else tasks
    finder, world = _open_world(file.parent, lines, parameters, corpus_given=options.get("corpus") is not None)
    basis = {"tasks": hash_file(file), **world}
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


def _open_world(
    folder: Path, lines: Sequence[TaskLine], parameters: EnvironmentServeParameters, *, corpus_given: bool
) -> tuple[PassageFinder, dict[str, str]]:
    """What finds for the tasks, and hashes of what it rests on."""
    with_pictures = any(line.pictures for line in lines)
    retriever, world = None, {}
    if corpus_given or not with_pictures:
        retriever = Retriever.open(find_folder(parameters))
        world = {"corpus": retriever.store.manifest.content, "search": retriever.describe()}
    if with_pictures:
        from hopwright.pictures.tasks import open_library

        library, basis = open_library(folder, retriever)
        return library, {**world, **basis}
    assert retriever is not None
    return CorpusFinder(retriever), world


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

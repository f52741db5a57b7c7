"""`hopwright images …`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.console import corpus as corpora
from flows.console.export import describe_transcripts, read_transcripts
from flows.console.graph import find_store
from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from flows.console.set_audits import show_audit
from hopwright.errors import InputError
from hopwright.exports.agents import AGENT_EXPORTERS, AgentExport
from hopwright.foreign import read_file, show
from hopwright.knowledge.images.commons import COMMONS, STATEMENTS, CommonsPictures
from hopwright.knowledge.images.flags import FlagPictures
from hopwright.knowledge.images.folder import FolderPictures
from hopwright.knowledge.images.marks import MarkPictures
from hopwright.knowledge.images.outlines import OutlinePictures
from hopwright.knowledge.images.pictures import PictureSource
from hopwright.knowledge.images.store import PictureStore, build_store
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.sparql import AnswerCache, SparqlClient, SparqlSettings
from hopwright.pictures.audit import audit_pictures
from hopwright.pictures.dataset import WRITER, PictureSet, read_picture_set, save_picture_set, write_picture_set
from hopwright.pictures.drafting import PictureDrafter
from hopwright.pictures.drawing import PictureCounts
from hopwright.release.own_folder import refuse_foreign, refuse_foreign_forms
from hopwright.settings import (
    CorpusName,
    ModelParameters,
    PictureQuestionsParameters,
    PicturesEvaluateParameters,
    PicturesExportParameters,
    PicturesFetchParameters,
    PicturesFilterParameters,
    PicturesName,
    PicturesRewordParameters,
    home,
    load_parameters,
)
from hopwright.stages.resources import describe_source, open_graph

if TYPE_CHECKING:
    from hopwright.llm.estimate import ApproximateRequest
    from hopwright.llm.session import Session
    from hopwright.llm.types import Request

_EMBEDDED: Mapping[str, Callable[[Path], PictureSource]] = {
    "flags": FlagPictures,
    "outlines": OutlinePictures,
    "marks": MarkPictures,
}
_SHOWN = 20


def fetch(
    store: Path | None,
    folders: list[Path],
    commons: Path | None,
    endpoint: str | None,
    api: str | None,
    contact: str,
    options: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Make the store of pictures anew and say what is in it."""
    parameters = load_parameters(merge_options({}, options), PicturesFetchParameters)
    cache = home() / "cache" / "pictures"
    sources: list[PictureSource] = [_EMBEDDED[name](cache) for name in parameters.sources if name != "none"]
    sources += [FolderPictures(folder) for folder in folders]
    if commons is not None:
        settings = {"contact": contact, **({"endpoint": endpoint} if endpoint else {})}
        client = SparqlClient(SparqlSettings.model_validate(settings), AnswerCache(home() / "sparql.sqlite"))
        kinds = sorted(set(STATEMENTS.values()))
        sources.append(CommonsPictures(_read_ids(commons), kinds, client, cache / "commons", api=api or COMMONS))
    if not sources:
        raise InputError("no source of pictures is named: --source, --folder or --commons names one")
    graph = WikidataSource(open_graph(find_store(store)))
    with err.status("fetching") as status:
        made = build_store(find_folder(parameters), sources, graph, parameters.size, status.update)
    _tell_store(made, as_json=as_json)


def show_info(options: Mapping[str, Any], *, as_json: bool) -> None:
    """What the store of pictures holds."""
    parameters = load_parameters(merge_options({}, options), PicturesName)
    _tell_store(PictureStore.open(find_folder(parameters)), as_json=as_json)


def make(folder: Path, store: Path | None, options: Mapping[str, Any], *, replace: bool, as_json: bool) -> None:
    """Make the questions and say what was proven and what was rejected."""
    parameters = load_parameters(merge_options({}, options), PictureQuestionsParameters)
    refuse_foreign(folder, WRITER, replace=replace)
    with err.status("opening the pictures") as status:
        drafter = _open_drafter(store, parameters, parameters.seed)
        counts = write_picture_set(drafter, folder, parameters, status.update, replace=replace)
    if as_json:
        print_json({name: dict(sorted(held.items())) for name, held in vars(counts).items()} | {"folder": str(folder)})
        return
    for name, number in sorted(counts.made.items()):
        out.out(f"{name}: {number:,} made" + (f" of {counts.tried[name]:,} drafts" if counts.tried[name] else ""))
    for name, number in [*sorted(counts.rejected.items()), *sorted(counts.left_out.items())]:
        out.out(f"  not taken: {name} ({number:,})")
    out.out(str(folder))


def audit(folder: Path, store: Path | None, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Prove a folder again. Raises InputError where something is wrong."""
    parameters = load_parameters(merge_options({}, options), PicturesName)
    with err.status("opening the pictures") as status:
        found = read_picture_set(folder)
        report = audit_pictures(found, _open_drafter(store, parameters, 0), status.update)
    show_audit(report, f"{report.pictures:,} pictures", folder, as_json=as_json)


def evaluate(folder: Path, options: Mapping[str, Any], *, dry_run: bool, as_json: bool) -> None:
    """Ask models and show how often each is right; a dry run prints what it would ask and cost."""
    from hopwright.knowledge.images.searching import ImageSearcher
    from hopwright.pictures.episodes import PictureWorld, evaluate_agents, list_agent_requests
    from hopwright.pictures.evaluation import evaluate_pictures, list_requests
    from hopwright.stages.models import require_named

    parameters = load_parameters(merge_options({}, options), PicturesEvaluateParameters)
    require_named(parameters.models)
    found = read_picture_set(folder)
    if dry_run:
        listed: Iterable[Request | ApproximateRequest] = list_requests(found, parameters)
        if parameters.tools:
            store = PictureStore.open(find_folder(parameters))
            world = PictureWorld(found, ImageSearcher(store, parameters.vectors))
            listed = list_agent_requests(world, found, parameters)
        _estimate(listed, "images evaluate", folder, parameters.models, parameters.access, as_json=as_json)
        return
    session = _open_session("images evaluate", folder, parameters.models, parameters.access)
    with err.status("asking") as status:
        if parameters.tools:
            store = PictureStore.open(find_folder(parameters))
            world = PictureWorld(found, ImageSearcher(store, parameters.vectors))
            report = evaluate_agents(world, found, parameters, session, status.update)
        else:
            report = evaluate_pictures(found, parameters, session.complete_all, status.update)
    if as_json:
        print_json(report)
        return
    if parameters.tools:
        for row in report["rows"]:
            calls = ", ".join(f"{name} {number:,}" for name, number in row["calls"].items()) or "none"
            out.out(
                f"{row['model']}, with tools: {row['right']:,} of {row['episodes']:,} right ({row['accuracy']:.1%}), "
                f"{row['hops_found']:.1%} of the hops found; calls: {calls}"
            )
        for reason, number in report["failures"].items():
            out.out(f"  failed: {reason} ({number:,})")
        return
    for row in report["rows"]:
        out.out(
            f"{row['model']}, {row['shown']} pictures, {row['questions']}: {row['right']:,} of {row['asked']:,} right "
            f"({row['accuracy']:.1%}), {row['unreadable']:,} unreadable, {row['failed']:,} failed"
        )
    for reason, number in report["failures"].items():
        out.out(f"  failed: {reason} ({number:,})")


def filter_set(
    folder: Path, target: Path, options: Mapping[str, Any], *, replace: bool, dry_run: bool, as_json: bool
) -> None:
    """Keep what is hard enough for the voters; a dry run prints what those at endpoints would be asked and cost."""
    from hopwright.difficulty.vllm_server import ServerSettings
    from hopwright.pictures.filtering import filter_pictures, list_votes
    from hopwright.pictures.served import prepare_served, serve_in_turn
    from hopwright.stages.models import STORE, name_command

    parameters = load_parameters(merge_options({}, options), PicturesFilterParameters)
    if not parameters.voters:
        raise InputError("no voter is named: --voter endpoint/model or vllm:MODEL names one (docs/models.md)")
    command = "hopwright images filter"
    refuse_foreign(target, command, replace=replace)
    if dry_run:
        paid = [voter for voter in parameters.voters if not voter.startswith("vllm:")]
        votes = list_votes(read_picture_set(folder), paid, parameters.max_tokens)
        _estimate((one.request for one in votes), "images filter", folder, paid, parameters.access, as_json=as_json)
        return
    vllm = parameters.vllm
    settings = ServerSettings(
        vllm.interpreter(), vllm.port, vllm.gpus, vllm.tensor_parallel, vllm.memory_share, parameters.context,
        start_s=float(vllm.start_seconds),
    )  # fmt: skip
    served = prepare_served(parameters.voters, settings)
    found, store = read_picture_set(folder), PictureStore.open(find_folder(parameters))
    reached = [voter for voter in parameters.voters if voter not in served]
    session = _open_session("images filter", folder, reached, parameters.access) if reached else None
    run = name_command("images filter", folder.absolute(), *parameters.voters)
    with err.status("voting") as status:
        rest = session.complete_all if session is not None else None
        complete = serve_in_turn(served, home() / STORE, run, home() / "logs" / "images", rest, status.update)
        made = filter_pictures(found, parameters, complete, status.update, served)
    if not made.items:
        raise InputError(f"{folder}: no question is hard enough ({made.counts['dropped']:,} dropped)")
    counts = PictureCounts(made=Counter(made.counts))
    save_picture_set(
        target, store, made.items, made.splits, made.twins, counts, command=command, replace=replace
    )
    if as_json:
        print_json({"folder": str(target), "counts": made.counts, "right": made.rights})
        return
    for name, share in made.rights.items():
        out.out(f"{name}: {share:.1%} right")
    out.out(
        f"{made.counts['in']:,} questions: {made.counts['kept']:,} kept, {made.counts['dropped']:,} too easy, "
        f"{made.counts['held']:,} without enough votes"
    )
    out.out(str(target))


def reword_set(
    folder: Path, target: Path, options: Mapping[str, Any], *, replace: bool, dry_run: bool, as_json: bool
) -> None:
    """Have a model word the questions; a dry run prints what asking once for each would cost."""
    from hopwright.llm.types import parse_model
    from hopwright.pictures.rewording import list_requests, reword_pictures
    from hopwright.stages.models import require_named

    parameters = load_parameters(merge_options({}, options), PicturesRewordParameters)
    require_named([parameters.model])
    command = "hopwright images reword"
    refuse_foreign(target, command, replace=replace)
    if dry_run:
        listed = list_requests(read_picture_set(folder), parse_model(parameters.model))
        _estimate(listed, "images reword", folder, [parameters.model], parameters.access, as_json=as_json)
        return
    found, store = read_picture_set(folder), PictureStore.open(find_folder(parameters))
    session = _open_session("images reword", folder, [parameters.model], parameters.access)
    with err.status("wording"):
        made = reword_pictures(found, parse_model(parameters.model), session)
    splits = {item.id: split for item, split in found.items}
    counts = PictureCounts(made=Counter(made.counts))
    save_picture_set(target, store, made.items, splits, made.twins, counts, command=command, replace=replace)
    if as_json:
        print_json({"folder": str(target), "counts": made.counts})
        return
    for name, number in made.counts.items():
        out.out(f"{name} ({number:,})")
    out.out(str(target))


def export(folder: Path, target: Path, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Write the folders of other programs."""
    from hopwright.pictures.exports import WRITER as EXPORTER
    from hopwright.pictures.exports import export_pictures

    parameters = load_parameters(merge_options({}, options), PicturesExportParameters)
    refuse_foreign_forms(target, parameters.forms, EXPORTER)
    found = read_picture_set(folder)
    with err.status("writing"):
        agents = _prepare_agents(found, parameters) if AGENT_EXPORTERS.keys() & set(parameters.forms) else None
        written = export_pictures(found, target, parameters.forms, agents)
    if as_json:
        print_json({"folder": str(target), "rows": written})
        return
    for name, rows in written.items():
        out.out(f"{target / name}: {rows:,} rows")
    if "trajectories" in written:
        counts = read_transcripts({"report.json": (target / "trajectories" / "report.json").read_bytes()})
        out.out(describe_transcripts(counts))


def write_tasks(folder: Path, target: Path, most: int, *, blind: bool, as_json: bool) -> None:
    """Write tasks for reviewers."""
    from annotation.pictures import write_picture_tasks

    found = read_picture_set(folder)
    items = found.of_split("all")
    number = min(most, len(items))
    chosen = [items[place * len(items) // number] for place in range(number)]
    written = write_picture_tasks(found, chosen, target, blind=blind)
    if as_json:
        print_json({"folder": str(target), "tasks": written})
        return
    out.out(f"{target}: {written:,} tasks, and interface.xml and instructions.html for their project")


def find_folder(parameters: PicturesName) -> Path:
    """The folder of a store of pictures in Hopwright's home; it need not be there yet."""
    return home() / "pictures" / parameters.pictures


def _prepare_agents(found: PictureSet, parameters: PicturesExportParameters) -> AgentExport:
    from hopwright.knowledge.documents.index import Retriever
    from hopwright.llm.prompts import load_prompts
    from hopwright.pictures.tasks import make_picture_tasks
    from hopwright.training.task_sets import TaskSetOptions

    corpus = parameters.corpus
    retriever = Retriever.open(corpora.find_folder(CorpusName(corpus=corpus))) if corpus else None
    budget = TaskSetOptions(
        seed=parameters.seed,
        max_steps=parameters.max_steps,
        max_turns=parameters.max_turns,
        max_tokens=parameters.max_tokens,
    )
    store = PictureStore.open(find_folder(parameters))
    return make_picture_tasks(found, store, load_prompts(), budget, parameters.recoveries, retriever)


def _open_session(verb: str, folder: Path, models: Sequence[str], wanted: ModelParameters) -> "Session":
    from hopwright.stages.models import grant_command_access, open_models
    from tasks.models import require_models

    access = grant_command_access(verb, folder, models, wanted)
    require_models(access, blocks=False)
    home().mkdir(parents=True, exist_ok=True)
    return open_models(access)


def _estimate(
    listed: "Iterable[Request | ApproximateRequest]",
    verb: str,
    folder: Path,
    models: Sequence[str],
    wanted: ModelParameters,
    *,
    as_json: bool,
) -> None:
    """What asking would cost."""
    from flows.console.estimate import estimate_asked, tell_estimate
    from hopwright.stages.models import grant_command_access

    access = grant_command_access(verb, folder, models, wanted)
    estimate = estimate_asked(listed, access, verb.partition(" ")[2])
    tell_estimate(estimate, access.budget_usd, as_json=as_json)


def _open_drafter(store: Path | None, parameters: PicturesName, seed: int) -> PictureDrafter:
    pictures = PictureStore.open(find_folder(parameters))
    graph = open_graph(find_store(store))
    return PictureDrafter(WikidataSource(graph), pictures, [describe_source(graph)], seed)


def _tell_store(store: PictureStore, *, as_json: bool) -> None:
    kinds = Counter(one.kind for one in store.usable)
    reasons = Counter(
        one.reason if not one.alike else "looks like another picture" for one in store.pictures if one.reason
    )
    if as_json:
        print_json({
            "folder": str(store.folder), "pictures": len(store.pictures), "usable": dict(sorted(kinds.items())),
            "not_used": dict(sorted(reasons.items())), "not_drawn": list(store.undrawn), "snapshot": store.snapshot(),
        })  # fmt: skip
        return
    out.out(f"{store.folder}: {len(store.pictures):,} pictures, {sum(kinds.values()):,} to ask about")
    for kind, number in sorted(kinds.items()):
        out.out(f"  {kind}: {number:,}")
    for reason, number in reasons.most_common(_SHOWN):
        out.out(f"  not used: {reason} ({number:,})")
    for reason in store.undrawn[:_SHOWN]:
        out.out(f"  cannot be drawn: {reason}")
    if len(store.undrawn) > _SHOWN:
        more = len(store.undrawn) - _SHOWN
        out.out(f"  and {more:,} more that cannot be drawn, listed in {store.folder / 'manifest.json'}")
    licences = Counter((one.source, one.licence) for one in store.usable)
    for (source, licence), number in sorted(licences.items()):
        out.out(f"  {source} ({licence}): {number:,}")


def _read_ids(path: Path) -> list[str]:
    try:
        lines = read_file(path).decode("utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    if wrong := [line for line in lines if not (line[:1] == "Q" and line[1:].isdigit())]:
        raise InputError(f"{path}: {show(wrong[0])} is no Wikidata id, such as Q142")
    return sorted(set(lines), key=lambda id: int(id[1:]))

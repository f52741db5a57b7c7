"""`hopwright novels …`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from flows.console.set_audits import show_audit
from hopwright.errors import InputError
from hopwright.knowledge.books.reading import BookNotes
from hopwright.knowledge.books.tokens import WORDS
from hopwright.novels.audit import audit_novels
from hopwright.novels.dataset import WRITER, BookTexts, read_novel_set, write_novel_set
from hopwright.novels.finders import is_model, open_finder
from hopwright.novels.shelf import add_book, list_books, open_book, open_books, read_novel
from hopwright.release.own_folder import refuse_foreign, refuse_foreign_forms
from hopwright.settings import (
    NovelAskParameters,
    NovelDrawing,
    NovelQuestionsParameters,
    NovelsAddParameters,
    NovelsEvaluateParameters,
    NovelsExportParameters,
    NovelsName,
    NovelStarParameters,
    home,
    load_parameters,
)

if TYPE_CHECKING:
    from hopwright.knowledge.books.book import Book
    from hopwright.llm.estimate import ApproximateRequest
    from hopwright.llm.session import Session
    from hopwright.llm.types import Request
    from hopwright.novels.drafting import NovelCounts
    from hopwright.stages.models import ModelAccess

    Listed = Request | ApproximateRequest


def add(files: list[Path], options: Mapping[str, Any], *, as_json: bool) -> None:
    """Put books on the shelf and say what was read."""
    parameters = load_parameters(merge_options({}, options), NovelsAddParameters)
    said = {name: getattr(parameters, name) for name in ("title", "author", "year", "licence", "source")}
    if len(files) > 1 and (parameters.title or parameters.source):
        raise InputError("--title and --source say something of one book: add several books one by one")
    rows = []
    for path in files:
        with err.status(f"reading {path.name}"):
            book = add_book(find_shelf(parameters), path, BookNotes(**said))
        chapters = sum(one.kind == "chapter" for one in book.chapters)
        paragraphs = sum(one.is_paragraph for one in book.blocks)
        rows.append({
            "id": book.id, "title": book.title, "author": book.author, "licence": book.licence, "source": book.source,
            "chapters": chapters, "paragraphs": paragraphs,
        })  # fmt: skip
        if not as_json:
            out.out(f"{book.id}: {book.title}, {book.author}: {chapters:,} chapters, {paragraphs:,} paragraphs")
    if as_json:
        print_json({"books": rows})


def show_info(word: str, options: Mapping[str, Any], *, as_json: bool) -> None:
    """What the shelf holds, or whom a book names."""
    parameters = load_parameters(merge_options({}, options), NovelsName)
    shelf = find_shelf(parameters)
    if not word:
        books = [open_book(folder) for folder in list_books(shelf)]
        rows = [
            {"id": one.id, "title": one.title, "author": one.author, "licence": one.licence, "source": one.source}
            for one in books
        ]
        if as_json:
            print_json({"shelf": str(shelf), "books": rows})
            return
        out.out(f"{shelf}: {len(rows):,} books")
        for row in rows:
            out.out(f"  {row['id']}: {row['title']}, {row['author']} ({row['licence']})")
        return
    with err.status("finding names"):
        novel = read_novel(open_books(shelf, [word])[0], WORDS)
    named = sorted((one for one in novel.graph.entities if one.name), key=lambda one: (-one.mentions, one.id))
    if as_json:
        print_json({
            "id": novel.book.id, "tokens": novel.reader.table.sums[-1], "quotations": len(novel.graph.quotations),
            "entities": [
                {"name": one.name, "kind": one.kind, "mentions": one.mentions, "aliases": list(one.aliases)}
                for one in named
            ],
        })  # fmt: skip
        return
    out.out(
        f"{novel.book.id}: {novel.reader.table.sums[-1]:,} tokens, {len(named):,} characters and places, "
        f"{len(novel.graph.quotations):,} quotations whose speaker is named"
    )
    for one in named:
        out.out(f"  {one.name} ({one.kind}, {one.mentions:,}): {', '.join(one.aliases)}")


def make(folder: Path, options: Mapping[str, Any], *, dry_run: bool, replace: bool, as_json: bool) -> None:
    """Make the questions and say what was proven and what was left out; a dry run prints what finding names costs."""
    parameters = load_parameters(merge_options({}, options), NovelQuestionsParameters)
    books = open_books(find_shelf(parameters), parameters.books)
    access = None
    if is_model(parameters.finder):
        from hopwright.stages.models import grant_command_access

        access = grant_command_access("novels questions", folder, (parameters.finder,), parameters.access)
    if dry_run:
        if access is None:
            out.out(f"Nothing is asked of a model: names are found by {parameters.finder}.")
        else:
            _estimate_asking(_list_finding(books, parameters), access, "names", 1.0, as_json=as_json)
        return
    refuse_foreign(folder, WRITER, replace=replace)
    finder = open_finder(parameters.finder, _open_session(access).complete_all if access else None)
    with err.status("opening the books") as status:
        counts = write_novel_set(books, folder, parameters, status.update, finder, replace=replace)
    if as_json:
        print_json({"folder": str(folder), "books": {id: one.to_dict() for id, one in counts.items()}})
        return
    for id, one in counts.items():
        refused = sum(one.refused.values())
        out.out(f"{id}: {one.drawn:,} chains drawn, {one.proven:,} proven, {refused:,} refused")
        for name, number in sorted(one.made.items()):
            out.out(f"  {name}: {number:,}")
    out.out(str(folder))


def ask(folder: Path, options: Mapping[str, Any], *, dry_run: bool, replace: bool, as_json: bool) -> None:
    """Have a model word and answer chains; a dry run prints what asking once for each of them would cost.

    Names that a model is to find are not known before it is paid: the dry run draws chains of those of the rules.
    """
    from hopwright.llm.estimate import ApproximateRequest
    from hopwright.novels.asked import AskedDrafter
    from hopwright.novels.dataset import ASKER, write_asked_set
    from hopwright.stages.models import grant_command_access

    parameters = load_parameters(merge_options({}, options), NovelAskParameters)
    finding = (parameters.finder,) if is_model(parameters.finder) else ()
    asked = (parameters.model, *parameters.filters, *finding)
    access = grant_command_access("novels ask", folder, asked, parameters.access)
    books = open_books(find_shelf(parameters), parameters.books)
    if dry_run:
        listed = _list_finding(books, parameters) if finding else []
        filtering = 1 + len(parameters.filters)
        with err.status("drawing chains") as status:
            for book in books:
                drafter = AskedDrafter(read_novel(book, parameters.tokenizer), parameters)
                requests = [drafter.request(chain, 0) for chain in drafter.draw(status.update)]
                listed += [ApproximateRequest(one) for one in requests for _ in range(filtering)]
        _estimate_asking(listed, access, "ask", 1.0, as_json=as_json)
        return
    refuse_foreign(folder, ASKER, replace=replace)
    session = _open_session(access)
    finder = open_finder(parameters.finder, session.complete_all)
    with err.status("asking") as status:
        counts = write_asked_set(books, folder, parameters, session, status.update, finder, replace=replace)
    _tell_asked(folder, counts, as_json=as_json)


def _list_finding(books: "list[Book]", parameters: NovelDrawing) -> "list[Listed]":
    """The requests that find the names of the books; a twin's renamed book asks about as much."""
    from hopwright.knowledge.books.model_finder import ModelFinder
    from hopwright.llm.estimate import ApproximateRequest

    finder = ModelFinder(parameters.finder, lambda _: [])
    requests = [one for book in books for one in finder.list_requests(book)]
    return [*requests, *(ApproximateRequest(one) for one in requests if parameters.twins)]


def make_star(folder: Path, options: Mapping[str, Any], *, dry_run: bool, replace: bool, as_json: bool) -> None:
    """Have a model ask in the paper's way; a dry run prints what the first paragraphs, times the hops, would cost."""
    from hopwright.llm.estimate import ApproximateRequest
    from hopwright.novels.dataset import STAR, write_star_set
    from hopwright.novels.star import StarDrafter
    from hopwright.stages.models import grant_command_access

    parameters = load_parameters(merge_options({}, options), NovelStarParameters)
    access = grant_command_access("novels star", folder, (parameters.model, *parameters.filters), parameters.access)
    books = open_books(find_shelf(parameters), parameters.books)
    if dry_run:
        # A paragraph asks for a keyword and a question, over more and more paragraphs.
        hops = [int(one) for one in parameters.hops]
        growth = sum(hop * (hop + 1) for hop in hops) / len(hops) + len(parameters.filters)
        listed: list[Listed] = []
        for book in books:
            drafter = StarDrafter(read_novel(book, parameters.tokenizer), parameters, lambda _: [])
            listed += [ApproximateRequest(one) for one in drafter.list_requests()]
        _estimate_asking(listed, access, "star", growth, as_json=as_json)
        return
    refuse_foreign(folder, STAR, replace=replace)
    session = _open_session(access)
    with err.status("asking") as status:
        counts = write_star_set(books, folder, parameters, session.complete_all, status.update, replace=replace)
    _tell_asked(folder, counts, as_json=as_json)


def _open_session(access: "ModelAccess") -> "Session":
    from hopwright.stages.models import open_models
    from tasks.models import require_models

    require_models(access, blocks=False)
    return open_models(access)


def _estimate_asking(
    listed: "list[Listed]", access: "ModelAccess", stage: str, growth: float, *, as_json: bool
) -> None:
    """What asking would cost: each listed request, times `growth`, stands for all of it."""
    from flows.console.estimate import estimate_asked
    from hopwright.llm.estimate import render_estimate

    estimate = estimate_asked(listed, access, stage, growth=growth)
    if as_json:
        print_json({**estimate.to_dict(), "budget_usd": access.budget_usd})
        return
    out.out(render_estimate(estimate))


def _tell_asked(folder: Path, counts: "Mapping[str, NovelCounts]", *, as_json: bool) -> None:
    if as_json:
        print_json({"folder": str(folder), "books": {id: one.to_dict() for id, one in counts.items()}})
        return
    for id, one in counts.items():
        made = sum(number for name, number in one.made.items() if name[-1] == "k")
        out.out(f"{id}: {one.drawn:,} chains drawn, {made:,} questions kept")
        for name, number in one.left_out.most_common():
            out.out(f"  left out: {name} ({number:,})")
    out.out(str(folder))


def audit(folder: Path, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Prove a folder again. Raises InputError where something is wrong."""
    parameters = load_parameters(merge_options({}, options), NovelsName)
    with err.status("reading") as status:
        found = read_novel_set(folder)
        report = audit_novels(found, BookTexts(found, find_shelf(parameters)), status.update)
    show_audit(report, f"{report.windows:,} windows", folder, as_json=as_json)


def evaluate(
    folder: Path, options: Mapping[str, Any], report_folder: Path | None, *, dry_run: bool, as_json: bool
) -> None:
    """Ask models and show the grid; a dry run prints what it would ask and cost."""
    from hopwright.novels.contexts import ContextMaker
    from hopwright.novels.evaluation import evaluate_novels, list_queries, pick_items
    from hopwright.novels.report import write_report
    from hopwright.stages.models import grant_command_access, open_models, require_named
    from tasks.models import require_models

    parameters = load_parameters(merge_options({}, options), NovelsEvaluateParameters)
    require_named(parameters.models)
    asked = (*parameters.models, *([parameters.judge] if parameters.judge else []))
    access = grant_command_access("novels evaluate", folder, asked, parameters.access)
    if not dry_run:
        require_models(access, blocks=False)
    with err.status("reading") as status:
        found = read_novel_set(folder)
        cache = home() / "cache" / "novels"
        texts = BookTexts(found, find_shelf(parameters))
        contexts = ContextMaker(found, texts, cache, parameters.chunk, parameters.chunks)
        queries = list(list_queries(pick_items(found, parameters), contexts, parameters))
        if not dry_run:
            home().mkdir(parents=True, exist_ok=True)
            report, verdicts = evaluate_novels(queries, parameters, open_models(access).complete_all, status.update)
    if dry_run:
        _estimate(queries, access, as_json=as_json)
        return
    if report_folder is not None:
        write_report(report, verdicts, report_folder, folder.name)
    if as_json:
        print_json(report)
        return
    _tell(report)
    if report_folder is not None:
        out.out(str(report_folder / "report.md"))


def _estimate(queries: list[Any], access: "ModelAccess", *, as_json: bool) -> None:
    """What asking would cost. Tokens that a prompt cache can spare are counted, and not taken off."""
    from flows.console.estimate import estimate_asked, tell_estimate
    from hopwright.novels.evaluation import count_shared

    estimate = estimate_asked((query.request for query in queries), access, "novels")
    shared = count_shared(queries)
    remark = (
        f"About {shared:,} of the tokens in repeat what an earlier question read; a prompt cache makes them cheaper "
        "than is counted here."
    )
    tell_estimate(estimate, access.budget_usd, as_json=as_json, more={"repeated_tokens": shared}, remark=remark)


def _tell(report: Mapping[str, Any]) -> None:
    for row in report["rows"]:
        out.out(
            f"{row['model']}, {row['mode']}, {row['variant']}, {row['questions']}: {row['right']:,} of "
            f"{row['asked']:,} right ({row['accuracy']:.1%}), {row['unreadable']:,} unreadable, "
            f"{row['failed']:,} failed"
        )
    for row in report["gaps"]:
        out.out(
            f"{row['model']}, {row['mode']}: {row['originals']:.1%} of the originals and {row['twins']:.1%} of their "
            f"twins right, {row['pairs']:,} pairs"
        )
    for row in report["usage"]:
        out.out(
            f"{row['model']}: {row['input_tokens']:,} tokens in, {row['cached_tokens']:,} of them from a prompt cache, "
            f"{row['output_tokens']:,} out, {row['cost_usd']:.4f} dollars"
        )
    for reason, number in report["failures"].items():
        out.out(f"  failed: {reason} ({number:,})")


def export(folder: Path, target: Path, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Write the folders of other programs."""
    from hopwright.novels.evaluation import pick_items
    from hopwright.novels.exports import WRITER as EXPORTER
    from hopwright.novels.exports import export_novels

    parameters = load_parameters(merge_options({}, options), NovelsExportParameters)
    refuse_foreign_forms(target, parameters.forms, EXPORTER)
    found = read_novel_set(folder)
    with err.status("writing"):
        items = pick_items(found, parameters)
        written = export_novels(items, BookTexts(found, find_shelf(parameters)), target, parameters.forms)
    if as_json:
        print_json({"folder": str(target), "rows": written})
        return
    for name, rows in written.items():
        out.out(f"{target / name}: {rows:,} rows")


def write_tasks(folder: Path, target: Path, most: int, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Write tasks for reviewers."""
    from annotation.novels import write_novel_tasks

    parameters = load_parameters(merge_options({}, options), NovelsName)
    found = read_novel_set(folder)
    number = min(most, len(found.items))
    chosen = [found.items[place * len(found.items) // number] for place in range(number)]
    with err.status("writing"):
        written = write_novel_tasks(found, BookTexts(found, find_shelf(parameters)), chosen, target)
    if as_json:
        print_json({"folder": str(target), "tasks": written})
        return
    out.out(f"{target}: {written:,} tasks, and interface.xml for their project")


def find_shelf(parameters: NovelsName) -> Path:
    """The folder of a shelf in Hopwright's home; it need not be there yet."""
    return home() / "novels" / parameters.shelf

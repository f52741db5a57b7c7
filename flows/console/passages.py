"""`hopwright rewrite --passages`: of each passage three questions, and both in a world that exists nowhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.progress import track

from flows.console.graph import find_store
from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from hopwright.errors import InputError
from hopwright.settings import ModelParameters, RewriteParameters, RewriteRun, home, load_parameters

_CHUNK = 200


def ask_passages(
    file: Path,
    into: Path | None,
    store: Path | None,
    question_model: str | None,
    options: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Write one line per passage and variant, and print how many questions there are, by whom."""
    if into is None:
        raise InputError("--passages needs --out FILE: where the questions go, as JSON lines")
    given = {**options, "rewrite": {**options["rewrite"], "enabled": None}}
    parameters = load_parameters(merge_options({}, given), RewriteRun)
    with err.status("opening the graph"):
        from hopwright.counterfactual.passage_questions import summarise
        from hopwright.knowledge.documents.corpus import read_corpus
        from hopwright.stages.models import name_command

        passages = [(one.title, one.text) for one in read_corpus(file)]
        run = name_command("passages", passages, question_model, parameters.model_dump_json(exclude={"models", "run"}))
        asker = _open_asker(find_store(store), question_model, parameters, run)
    figures: dict[str, int] = {}
    into.parent.mkdir(parents=True, exist_ok=True)
    aside = into.with_name(into.name + ".part")
    with aside.open("w", encoding="utf-8") as lines:
        starts = range(0, len(passages), _CHUNK)
        for start in track(starts, "passages", console=err, disable=as_json or not err.is_terminal):
            pairs = asker.ask(passages[start : start + _CHUNK])
            for factual, twin in pairs:
                lines.write(factual.model_dump_json() + "\n")
                if twin is not None:
                    lines.write(twin.model_dump_json() + "\n")
            for name, count in summarise(pairs).items():
                figures[name] = figures.get(name, 0) + count
    aside.replace(into)
    spent = {"requests": len(asker.spent.keys), "cost_usd": round(asker.spent.cost_usd, 4)}
    if as_json:
        print_json({**figures, **spent, "out": str(into)})
        return
    for name, count in sorted(figures.items()):
        out.print(f"{name}: {count:,}")
    if spent["requests"]:
        out.print(f"{spent['requests']:,} answers of models, {spent['cost_usd']:.2f} dollars")
    out.print(f"in {into}")


def _open_asker(store: Path, question_model: str | None, parameters: RewriteRun, run: str) -> Any:
    from hopwright.counterfactual.passage_questions import ModelQuestionWriter, PassageQuestionGenerator
    from hopwright.counterfactual.rewriting import TwinServices
    from hopwright.knowledge.wikidata.nouns import KindIndex
    from hopwright.knowledge.wikidata.properties import default_table
    from hopwright.knowledge.wikidata.store import GraphStore
    from hopwright.llm.config import read_settings
    from hopwright.llm.prompts import load_prompts
    from hopwright.llm.types import parse_model
    from hopwright.stages.models import STORE, ModelAccess, open_models
    from hopwright.stages.rewrite_context import RewriteContext, open_translators
    from tasks.models import load_keys

    wanted: RewriteParameters = parameters.rewrite
    asked = [model for model in (question_model, wanted.translation_model, wanted.judge_model) if model]
    models: ModelParameters = parameters.models
    access = ModelAccess(models.endpoints_file(), home() / STORE, run, models.limit()) if asked else None
    questioner = None
    if access is not None:
        settings = read_settings(access.endpoints)
        load_keys(settings, [parse_model(model).provider for model in asked])
        if question_model:
            home().mkdir(parents=True, exist_ok=True)
            prompt = load_prompts()["question-passage"]
            questioner = ModelQuestionWriter(open_models(access), prompt, parse_model(question_model))
    graph = GraphStore.open(store)
    services = TwinServices(graph, KindIndex(graph), default_table(), seed=parameters.seed)
    translators = []
    if wanted.back_translation != "off":
        translators = open_translators(RewriteContext(store, parameters.seed, wanted, access))
        obstacle = next((one for translator in translators if (one := translator.find_obstacle())), "")
        if obstacle and wanted.back_translation != "auto":
            raise InputError(f"back-translation: {obstacle}")
        if obstacle:
            err.print(f"back-translation is skipped: {obstacle}")
            translators = []
    return PassageQuestionGenerator(
        services.passages, services.source, services.names, parameters.seed, questioner, translators=translators
    )

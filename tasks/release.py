"""Items and twins → a dataset release, audited where it lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hopwright.difficulty.specs import SOLVERS, parse_voters
from hopwright.errors import RunError
from hopwright.runs import Counts, RunFolder, Stage, StageManifest
from hopwright.runs.files import hash_file
from hopwright.settings import ReleaseRun, RetrieveRun
from tasks.engine import carry_out_once, pick_parameters
from tasks.filter import read_difficulty
from tasks.rewrite import PASSAGES
from tasks.steps import StagePlan, run_step
from tasks.work.release import audit_release, count_writers, write_dataset
from tasks.work.resources import SOURCES, find_store

_UNITS = {
    "retrieve": "anchor questions",
    "synthesize/drafts": "plans",
    "synthesize": "drafts",
    "filter": "items",
    "rewrite": "items",
}
_REVIEWED = "review/accepted"
_KEPT_VERSIONS = ("hopwright", "python")


def plan_release(run: RunFolder, parameters: ReleaseRun) -> StagePlan:
    """The items that the filter kept, with their passages, and their twins; or those that the review accepted."""
    inputs = {**Stage(run, PASSAGES).output_hashes(), **Stage(run, "rewrite").output_hashes()}
    if parameters.release.reviewed:
        inputs |= Stage(run, _REVIEWED).output_hashes()
    return StagePlan(
        name="release",
        unit="items and twins",
        parameters=pick_parameters(parameters, "release"),
        inputs={**inputs, **{f"against/{path}": hash_file(path) for path in _list_published(run, parameters)}},
    )


def make_release(run: RunFolder, parameters: ReleaseRun) -> StageManifest:
    """Write the release of a run."""
    return carry_out_once(
        run, plan_release(run, parameters), lambda stage: _fill(run, stage, parameters), fresh=parameters.fresh
    )


def release_folder(run: RunFolder) -> Path:
    """Where the release of a run lies. Raises RunError before that stage ended."""
    return run.home / str(Stage(run, "release").read().notes["folder"])


def gather_facts(run: RunFolder, seed: int, *, reviewed: bool = False) -> dict[str, Any]:
    """What the card may say, from the manifests of the stages."""
    manifests = {name: Stage(run, name).read() for name in _list_stages(reviewed)}
    retrieve, rewrite = manifests["retrieve"], manifests["rewrite"]
    is_sample = not retrieve.parameters["corpus"]
    writers = run_step("writers", count_writers, Stage(run, "filter").parts())
    models = [writer for writer in writers if writer != "rules"]
    begun = run.read_manifest()
    profile = begun.parameters.get("profile", "offline") if begun is not None else "offline"
    return {
        "profile": profile,
        "generator": "model" if models else "rules",
        "model": ", ".join(models),
        "writers": writers if models else {},
        "seed": seed,
        "versions": {name: retrieve.versions[name] for name in _KEPT_VERSIONS},
        "corpus": "the sample of Wikidata's facts that ships with Hopwright"
        if is_sample
        else Path(retrieve.parameters["corpus"]).name,
        "corpus_entities": retrieve.notes["entities"],
        "corpus_triplets": retrieve.notes["triplets"],
        "sources": SOURCES,
        "anchors": retrieve.counts.out,
        "anchor_source": "questions worded by Hopwright from the sample"
        if not retrieve.parameters["anchors"] and is_sample
        else "MuSiQue",
        "stages": tuple(_count_stage(name, manifest) for name, manifest in manifests.items()),
        "voters": tuple(manifests["filter"].notes["voters"]),
        **_gather_difficulty(run, manifests["filter"]),
        "drop_at": manifests["filter"].parameters["filter"]["max_right"] + 1,
        "back_translation": rewrite.notes.get("back_translation", ""),
        "back_translation_skipped": rewrite.notes.get("back_translation_skipped", ""),
        "not_run": {
            f"{name}: {reason}": f"{rows} rows" for name, m in manifests.items() for reason, rows in m.skipped.items()
        },
    }


def _gather_difficulty(run: RunFolder, manifest: StageManifest) -> dict[str, Any]:
    """Who voted, and what the votes of models say."""
    if tuple(manifest.notes["voters"]) == SOLVERS:
        return {"voters_note": "solvers without weights that stand for the shortcuts which small models take"}
    kinds = {spec.kind for spec in parse_voters(manifest.parameters["filter"]["voters"])}
    return {
        "voters_kind": "voters" if "shortcut" in kinds else "models",
        "voters_note": "asked closed-book",
        "difficulty": read_difficulty(run),
    }


def _fill(run: RunFolder, stage: Stage, parameters: ReleaseRun) -> StageManifest:
    reviewed = parameters.release.reviewed
    items, twins = Stage(run, _REVIEWED if reviewed else PASSAGES), Stage(run, _REVIEWED if reviewed else "rewrite")
    if not items.read().counts.out:
        if reviewed:
            raise RunError(f"the review has accepted no item of run {run.name!r} yet; {run.path / _REVIEWED} says why")
        raise RunError(
            f"no item is left to release; the manifests in {run.path} say where they went. "
            "More drafts, or a corpus with dates and numbers (attribute_literals.tsv), may help"
        )
    folder = stage.folder / parameters.release.name
    figures = run_step(
        "write",
        write_dataset,
        items.parts(),
        twins.parts(),
        folder,
        parameters.release.name,
        parameters.release.version,
        gather_facts(run, parameters.seed, reviewed=reviewed),
        {name: dict(Stage(run, name).read().counts.rejected) for name in _list_stages(reviewed)},
        _list_published(run, parameters),
    )
    files = [path for path in (folder / "data.jsonl", folder / "counterfactual.jsonl") if path.exists()]
    audited = run_step("audit", audit_release, files, find_store(run))
    taken = items.read().counts.out + (0 if reviewed else twins.read().counts.out)
    return stage.finish(
        counts=Counts(taken=taken, out=figures["items"] + figures["twins"]),
        outputs=[folder],
        notes={"folder": str(folder.relative_to(run.home)), **figures, "audit": audited},
    )


def _list_stages(reviewed: bool) -> tuple[str, ...]:
    return (*_UNITS, *((_REVIEWED,) if reviewed else ()))


def _list_published(run: RunFolder, parameters: ReleaseRun) -> list[Path]:
    """The files that the questions are compared with: the anchor questions, while they are there, and those given."""
    retrieved = Stage(run, "retrieve").read().parameters
    anchors = RetrieveRun(corpus=retrieved["corpus"], anchors=retrieved["anchors"]).anchors_file()
    given = [Path(name).expanduser().absolute() for name in parameters.release.against]
    return list(dict.fromkeys([*([anchors] if anchors.is_file() else []), *given]))


def _count_stage(name: str, manifest: StageManifest) -> dict[str, Any]:
    counts = manifest.counts
    return {
        "stage": name,
        "unit": _UNITS.get(name, "items and twins"),
        "entered": counts.taken,
        "left": counts.out,
        "rejected": sum(counts.rejected.values()),
    }

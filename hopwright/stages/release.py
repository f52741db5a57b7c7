"""The stage release: items and twins → a dataset release, audited where it lies."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopwright.difficulty.specs import SOLVERS, parse_voters
from hopwright.errors import InputError, RunError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Rejected, Source
from hopwright.records.arrow import REJECTED_SCHEMA, encode_parquet, read_parquet, rejected_to_table
from hopwright.release.layout import find_split_files
from hopwright.runs import Counts, RunFolder, Stage, StageManifest, hash_file, rejected_path, write_file
from hopwright.settings import BuildParameters, ReleaseRun, RetrieveRun, name_parameter
from hopwright.stages.filter import read_difficulty
from hopwright.stages.plan import (
    StageEngine,
    StagePlan,
    StageSpec,
    is_finished,
    pick_parameters,
    require_paths,
)
from hopwright.stages.registry import list_steps
from hopwright.stages.release_sets import ReleaseSpec, ReviewParts, arrange_sets, count_makers
from hopwright.stages.resources import describe_source, find_store, open_graph
from hopwright.stages.rewrite import PASSAGES

if TYPE_CHECKING:
    from hopwright.release.dataset import PreviousRelease, ReleaseManifest

_REVIEWED = "review/accepted"
_REVIEWS = "reviews.parquet"
_SAMPLE_SOURCES = (
    Source(name="LiterallyWikidata (Gesese, Alam and Sack, 2021), by which facts of Wikidata came", licence="CC0-1.0"),
    Source(name="CoDEx (Safavi and Koutra, 2020), by which facts of Wikidata came", licence="MIT"),
    Source(name="WD50K (Galkin et al., 2020), by which facts of Wikidata came", licence="CC-BY-4.0"),
)
_OWN_ANCHORS = "questions worded by Hopwright from the sample"
_MUSIQUE = Source(name="MuSiQue (Trivedi et al., TACL 2022), whose answers are the anchors", licence="CC-BY-4.0")
_KEPT_VERSIONS = ("hopwright", "python")


def plan_release(run: RunFolder, parameters: ReleaseRun) -> StagePlan:
    """The items that the filter kept, with their passages, and their twins; or those that the review accepted."""
    inputs = {**Stage(run, PASSAGES).output_hashes(), **Stage(run, "rewrite").output_hashes()}
    if parameters.release.reviewed:
        inputs |= _hash_review(run)
    if parameters.release.previous:
        inputs["previous"] = hash_file(_find_previous(parameters) / "manifest.json")
    return StagePlan(
        name="release",
        unit="items and twins",
        parameters=pick_parameters(parameters, "release"),
        inputs={**inputs, **{f"against/{path}": hash_file(path) for path in _list_published(run, parameters)}},
    )


def make_release(
    engine: StageEngine, parameters: ReleaseRun, describe_review: Callable[[ReviewParts], dict[str, Any]]
) -> StageManifest:
    """Write the release of a run; `describe_review` gives the facts of its review, run in a worker process."""
    plan = plan_release(engine.run, parameters)
    if parameters.fresh or not is_finished(engine.run, "release"):
        _check_published(parameters)
    fill = functools.partial(_fill, engine, parameters, describe_review)
    return engine.write(plan, fill, fresh=parameters.fresh)


def release_folder(run: RunFolder) -> Path:
    """Where the release of a run lies. Raises RunError before that stage ended."""
    return run.home / str(Stage(run, "release").read().notes["folder"])


def holds_accepted(run: RunFolder) -> bool:
    """Whether the release of a run was made from the accepted set as it is."""
    made = Stage(run, "release").find_finished()
    return made is not None and _hash_review(run).items() <= made.inputs.items()


def gather_facts(
    engine: StageEngine, parameters: ReleaseRun, describe_review: Callable[[ReviewParts], dict[str, Any]]
) -> dict[str, Any]:
    """What the card may say, from the manifests of the stages."""
    run = engine.run
    review = _find_review(run, parameters)
    manifests = {name: Stage(run, name).read() for name in _list_stages(parameters.release.reviewed)}
    retrieve, rewrite = manifests["retrieve"], manifests["rewrite"]
    is_sample = not retrieve.parameters["corpus"]
    own_anchors = _find_own_anchors(run) is not None
    writers, prompts = engine.step("writers", count_makers, Stage(run, "filter").parts())
    models = [writer for writer in writers if writer != "rules"]
    return {
        "generator": "model" if models else "rules",
        "model": ", ".join(models),
        "writers": writers if models else {},
        "prompts": prompts,
        "seed": parameters.seed,
        "versions": {name: retrieve.versions[name] for name in _KEPT_VERSIONS},
        "corpus": "the sample of Wikidata's facts that ships with Hopwright"
        if is_sample
        else Path(retrieve.parameters["corpus"]).name,
        "corpus_entities": retrieve.notes["entities"],
        "corpus_triplets": retrieve.notes["triplets"],
        "sources": (
            describe_source(open_graph(find_store(run))),
            *(_SAMPLE_SOURCES if is_sample else ()),
            *(() if own_anchors else (_MUSIQUE,)),
        ),
        "anchors": retrieve.counts.out,
        "anchor_source": _OWN_ANCHORS if own_anchors else "MuSiQue",
        "stages": tuple(_count_stage(name, manifest) for name, manifest in manifests.items()),
        "voters": tuple(manifests["filter"].notes["voters"]),
        **_gather_difficulty(run, manifests["filter"]),
        "drop_at": manifests["filter"].parameters["filter"]["max_right"] + 1,
        "back_translation": rewrite.notes.get("back_translation", ""),
        "back_translation_skipped": rewrite.notes.get("back_translation_skipped", ""),
        "review": engine.step("review", describe_review, review) if review is not None else None,
        "splits": _list_shares(parameters),
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


def _fill(
    engine: StageEngine,
    parameters: ReleaseRun,
    describe_review: Callable[[ReviewParts], dict[str, Any]],
    stage: Stage,
) -> StageManifest:
    run, reviewed = engine.run, parameters.release.reviewed
    items, twins = Stage(run, PASSAGES), Stage(run, "rewrite")
    if reviewed and not Stage(run, _REVIEWED).read().counts.out:
        raise RunError(f"the review has accepted no item of run {run.name!r} yet; {run.path / _REVIEWED} says why")
    if not items.read().counts.out:
        raise RunError(
            f"no item is left to release; the manifests in {run.path} say where they went. "
            "More drafts, or a corpus with dates and numbers (attribute_literals.tsv), may help"
        )
    name = name_dataset(run.name, parameters)
    folder = stage.folder / name
    names = _list_stages(reviewed)
    order = ReleaseSpec(
        items=items.parts(),
        twins=twins.parts(),
        folder=folder,
        name=name,
        version=parameters.release.version,
        facts=gather_facts(engine, parameters, describe_review),
        rejections={name: dict(Stage(run, name).read().counts.rejected) for name in names},
        against=_list_published(run, parameters),
        names={path: _OWN_ANCHORS for path in _list_published(run, parameters) if path == _find_own_anchors(run)},
        review=_find_review(run, parameters),
        rule=parameters.release.separation,
        shares=_list_shares(parameters),
        seed=parameters.seed,
        previous=_find_previous(parameters) if parameters.release.previous else None,
        course={name: _list_rejected(Stage(run, name)) for name in names},
    )
    figures = engine.step("write", write_dataset, order, stage.folder)
    store, places = find_store(run), find_split_files(folder)
    audits = engine.steps(
        audit_file, {f"audit {place.jsonl}": (folder / place.jsonl, store, order.against) for place in places}
    )
    return stage.finish(
        counts=Counts(
            taken=items.read().counts.out + twins.read().counts.out,
            out=figures["items"] + figures["twins"],
            rejected=figures.pop("left_out"),
        ),
        outputs=[folder, stage.folder / "rejected"],
        notes={"folder": str(folder.relative_to(run.home)), **figures, "audit": add_audits(audits)},
    )


def _find_review(run: RunFolder, parameters: ReleaseRun) -> ReviewParts | None:
    if not parameters.release.reviewed:
        return None
    stage = Stage(run, _REVIEWED)
    notes = stage.read().notes
    return ReviewParts(
        accepted=stage.parts(),
        rejected=_list_rejected(stage),
        reviews=stage.folder / _REVIEWS,
        outcomes=notes["outcomes"],
        scores=notes["scores"],
    )


def _check_published(parameters: ReleaseRun) -> None:
    """Raises InputError for a file to compare with that holds no questions, before anything is removed or made."""
    from hopwright.checks.overlap import check_questions

    for name in parameters.release.against:
        check_questions(Path(name).expanduser().absolute())


def _find_previous(parameters: ReleaseRun) -> Path:
    """The folder of the release before. Raises InputError when it is none, before anything of this one is removed."""
    from hopwright.release.dataset import read_manifest

    folder = Path(parameters.release.previous).expanduser().absolute()
    if not (folder / "manifest.json").is_file():
        raise InputError(f"{folder} is not a release: no manifest.json in it ({name_parameter('release.previous')})")
    read_manifest(folder)
    return folder


def _list_shares(parameters: ReleaseRun) -> dict[str, float]:
    wanted = {"test": parameters.release.test, "validation": parameters.release.validation}
    return {name: share for name, share in wanted.items() if share}


def _list_rejected(stage: Stage) -> list[Path]:
    return [
        path for path in (rejected_path(stage.folder, index) for index in range(stage.read().shards)) if path.exists()
    ]


def _hash_review(run: RunFolder) -> dict[str, str]:
    """What a release takes from the review: the accepted set, and one hash for what was not accepted, which decides
    what else may be released. Raises RunError before the review was decided.
    """
    accepted = Stage(run, _REVIEWED)
    if accepted.find_finished() is None:
        raise RunError(
            f"the review of run {run.name!r} is not decided yet: `hopwright review adjudicate --run {run.name}`"
        )
    hashes = "".join(hash_file(path) for path in _list_rejected(accepted))
    return {**accepted.output_hashes(), f"{_REVIEWED}/decisions": hashlib.sha256(hashes.encode()).hexdigest()}


def _list_stages(reviewed: bool) -> tuple[str, ...]:
    return (*(step.name for step in list_steps("rewrite")), *((_REVIEWED,) if reviewed else ()))


def _find_own_anchors(run: RunFolder) -> Path | None:
    """The anchor questions that ship with Hopwright, where the run has them: they are in MuSiQue's layout only."""
    retrieved = Stage(run, "retrieve").read().parameters
    given = retrieved["corpus"] or retrieved["anchors"]
    return None if given else RetrieveRun(corpus="", anchors="").anchors_file()


def _list_published(run: RunFolder, parameters: ReleaseRun) -> list[Path]:
    """The files that the questions are compared with: the anchor questions, while they are there, and those given."""
    retrieved = Stage(run, "retrieve").read().parameters
    anchors = RetrieveRun(corpus=retrieved["corpus"], anchors=retrieved["anchors"]).anchors_file()
    given = [Path(name).expanduser().absolute() for name in parameters.release.against]
    return list(dict.fromkeys([*([anchors] if anchors.is_file() else []), *given]))


def _count_stage(name: str, manifest: StageManifest) -> dict[str, Any]:
    counts = manifest.counts
    units = {step.name: step.unit for step in list_steps("rewrite")}
    return {
        "stage": name,
        "unit": units.get(name, "items and twins"),
        "entered": counts.taken,
        "left": counts.out,
        "rejected": sum(counts.rejected.values()),
    }


def write_dataset(order: ReleaseSpec, stage: Path) -> dict[str, Any]:
    """Write the release, and what was left out of it as the rejected rows of the folder `stage`.

    Returns its figures: rows per set, what was left out by reason, which of the scorecard's limits it keeps.
    """
    from hopwright.release.dataset import write_release
    from hopwright.release.facts import RunFacts

    sets, dropped = arrange_sets(order)
    synth = sets.pop("synth")
    manifest = write_release(
        synth.factual,
        synth.twins,
        folder=order.folder,
        name=order.name,
        version=order.version,
        facts=RunFacts.model_validate(order.facts),
        rejections=order.rejections,
        against=order.against,
        names=order.names,
        others=sets,
        rule=order.rule,
        history=_tell_history(order),
    )
    dropped += _list_held_back(order.folder)
    write_file(rejected_path(stage, 0), encode_parquet(rejected_to_table(dropped)))
    return {
        "items": manifest.items,
        "twins": manifest.twins,
        "version": manifest.version,
        "sets": {name: {"items": one.items, "twins": one.twins} for name, one in manifest.sets.items()},
        "left_out": dict(sorted(Counter(one.check for one in dropped).items())),
        "missed": list(manifest.main.scorecard.missed),
        "limits": {one.name: one.met for one in manifest.main.scorecard.thresholds},
        **_describe_changes(manifest),
    }


@dataclass(frozen=True, slots=True)
class Audited:
    """What the audit of a file came to; `by_check` counts violations."""

    items: int
    warnings: int
    by_check: Mapping[str, int]


def audit_file(file: Path, store: Path, against: Sequence[Path] = ()) -> Audited:
    """Audit a release file against the graph, and against the published questions that the release is compared with."""
    from hopwright.release.audit import audit

    report = audit(file, open_graph(store), default_table(), against=against)
    return Audited(report.items, len(report.warnings), report.counts)


def add_audits(audits: Iterable[Audited]) -> dict[str, Any]:
    """How much was looked at in all files, and what was found."""
    items = warnings = 0
    counts = Counter[str]()
    for one in audits:
        items, warnings = items + one.items, warnings + one.warnings
        counts.update(one.by_check)
    return {
        "items": items,
        "violations": counts.total(),
        "warnings": warnings,
        "by_check": dict(sorted(counts.items())),
    }


def read_figures(folder: Path) -> dict[str, Any]:
    """The figures of a release's factual items: of its machine-checked set, where it has one."""
    from hopwright.release.dataset import read_manifest

    return read_manifest(folder).main.factual.model_dump(mode="json")


def _list_held_back(folder: Path) -> list[Rejected]:
    from hopwright.release.dataset import HELD_BACK
    from hopwright.release.separation import HeldBack

    path = folder / HELD_BACK
    if not path.is_file():
        return []
    held = [HeldBack.model_validate_json(line) for line in path.read_text("utf-8").split("\n") if line]
    return [Rejected(key=one.id, check=one.reason, reason=f"{one.what}: shared with {one.shares_with}") for one in held]


def _tell_history(order: ReleaseSpec) -> PreviousRelease | None:
    """The release before, and where this run rejected what is in it; the last stage that did has the word."""
    from hopwright.release.changes import Withdrawal
    from hopwright.release.dataset import PreviousRelease

    if order.previous is None:
        return None
    reasons: dict[str, Withdrawal] = {}
    for stage, parts in order.course.items():
        for part in parts:
            for row in read_parquet(part, REJECTED_SCHEMA, ["key", "check", "reason"]).to_pylist():
                reasons[row["key"]] = Withdrawal(f"{row['check']} ({stage})", row["reason"])
    return PreviousRelease(order.previous, reasons)


def _describe_changes(manifest: ReleaseManifest) -> dict[str, Any]:
    changes = manifest.changes
    if changes is None:
        return {}
    return {
        "changes": {
            "since": changes.version,
            "added": sum(changes.count_added().values()),
            "changed": len(changes.changed),
            "moved": len(changes.moved),
            "withdrawn": len(changes.withdrawn),
        }
    }


def name_dataset(run: str, parameters: ReleaseRun) -> str:
    """The name of a run's dataset: the one that was given, else that of the run, so that two runs have two."""
    return parameters.release.name or f"hopwright-{run}"


def _check(run: RunFolder, parameters: BuildParameters) -> None:
    """Look for the files to compare with, and for reviews, before the first stage is run."""
    wanted = parameters.release
    if is_finished(run, "release"):
        return
    require_paths([("release.against", path) for path in wanted.against])
    _check_published(parameters)
    if wanted.previous:
        _find_previous(parameters)
    if wanted.reviewed and not is_finished(run, _REVIEWED):
        raise InputError(
            "release.reviewed: a new run has no reviews yet; release it without, and after the review once more "
            "(docs/agreement.md)"
        )


STAGE = StageSpec(name="release", parameters=ReleaseRun, needs=("filter", "rewrite", "review"), steps=(), check=_check)

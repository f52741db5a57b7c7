"""Publishing a release on the Hugging Face Hub: looked at first, then one commit and a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.errors import InputError, ServiceError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.release.audit import audit
from hopwright.release.dataset import read_manifest
from hopwright.release.layout import find_split_files
from hopwright.release.own_folder import CHECKSUMS
from hopwright.runs.files import hash_file

_REPO = re.compile(r"^[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}$")


@dataclass(frozen=True, slots=True)
class Upload:
    """One file of a release: its path there and its size in bytes."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class UploadPlan:
    """What would be published, where, under which version; `refusals` say why it would not."""

    repo: str
    folder: Path
    name: str
    version: str
    files: tuple[Upload, ...]
    refusals: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(one.bytes for one in self.files)

    @property
    def tag(self) -> str:
        """The tag that the commit gets."""
        return f"v{self.version}"

    @property
    def message(self) -> str:
        """The commit's message."""
        return f"{self.name} {self.version}"

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "repo": self.repo,
            "folder": str(self.folder),
            "version": self.version,
            "tag": self.tag,
            "message": self.message,
            "bytes": self.bytes,
            "files": [{"path": one.path, "bytes": one.bytes} for one in self.files],
            "refusals": list(self.refusals),
        }


def plan_upload(folder: Path, repo: str, graph: GraphStore | None = None) -> UploadPlan:
    """Look at a release before it is published; nothing is sent.

    A release is refused when a file is missing, too much or changed since it was written, and when the audit finds
    something wrong with an item (against `graph`, where one is given). Raises InputError for a folder that is no
    release and a repository's name that cannot be one.
    """
    if not _REPO.match(repo):
        raise InputError(f"{repo!r} is no repository of the Hub: give owner/name")
    manifest = read_manifest(folder)
    files = tuple(
        Upload(path.relative_to(folder).as_posix(), path.stat().st_size)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )
    refusals = [*_check_files(folder, [one.path for one in files])]
    if not refusals:
        refusals += _audit_files(folder, graph)
    return UploadPlan(repo, folder, manifest.name, manifest.version, files, tuple(refusals))


def publish_release(plan: UploadPlan, token: str, *, private: bool = False, endpoint: str | None = None) -> str:
    """Create the repository where there is none, upload the release in one commit, and tag it with its version.

    Files of earlier releases that this one does not have are removed from the repository's head; the tags keep them. A
    release whose upload was interrupted can be published again. Returns the commit's address.

    Raises InputError for a plan with refusals and for a version that is already tagged there, ServiceError when the Hub
    refuses or cannot be reached.
    """
    if plan.refusals:
        raise InputError(f"{plan.folder} is not fit to be published: {plan.refusals[0]}")
    from httpx2 import TransportError
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api = HfApi(endpoint=endpoint, token=token, library_name="hopwright")
    try:
        api.create_repo(plan.repo, repo_type="dataset", private=private, exist_ok=True)
        tags = {tag.name for tag in api.list_repo_refs(plan.repo, repo_type="dataset").tags}
        if plan.tag in tags:
            raise InputError(
                f"{plan.repo} has a version {plan.version} already: release again with --previous, "
                "which gives what changed a version of its own"
            )
        commit = api.upload_folder(
            repo_id=plan.repo,
            repo_type="dataset",
            folder_path=plan.folder,
            commit_message=plan.message,
            delete_patterns="*",
        )
        api.create_tag(plan.repo, tag=plan.tag, tag_message=plan.message, repo_type="dataset")
    except HfHubHTTPError as error:
        raise ServiceError(f"the Hub refuses {plan.repo}: {_explain(error)}") from None
    except (HFValidationError, ValueError) as error:
        raise InputError(f"{plan.repo}: {' '.join(str(error).split())}") from None
    except (TransportError, OSError) as error:
        raise ServiceError(
            f"the Hub cannot be reached: {error or type(error).__name__}; publish again to go on"
        ) from None
    return str(commit.commit_url)


def _check_files(folder: Path, present: Sequence[str]) -> Iterator[str]:
    """What is not as `checksums.sha256` says, one line for all files of a kind."""
    named: dict[str, str] = {}
    for line in (folder / CHECKSUMS).read_text("utf-8").splitlines():
        digest, _, path = line.partition("  ")
        named[path] = digest
    groups = {
        "missing": [path for path in named if path not in present],
        "not part of the release": [path for path in present if path not in named and path != CHECKSUMS],
        "changed since the release was written": [
            path for path, digest in named.items() if path in present and hash_file(folder / path) != digest
        ],
    }
    for what, paths in groups.items():
        if paths:
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            yield f"{paths[0]}{more}: {what}"


def _audit_files(folder: Path, graph: GraphStore | None) -> Iterator[str]:
    for place in find_split_files(folder):
        report = audit(folder / place.jsonl, graph, default_table())
        if not report.clean:
            first = report.violations[0]
            yield f"{place.jsonl}: {len(report.violations):,} violations, such as {first.check}: {first.reason}"


def _explain(error: Any) -> str:
    """The Hub's own words, in one line."""
    status: int = error.response.status_code
    said = getattr(error, "server_message", None) or str(error)
    hint = {401: " (is HF_TOKEN right?)", 403: " (may the token write there?)"}.get(status, "")
    return f"{status} {' '.join(str(said).split())}{hint}".strip()

"""How questions over documents are made in one go: from files to a folder of questions."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, model_validator

from hopwright.errors import InputError
from hopwright.settings.base import Cli, number_fields
from hopwright.settings.corpus import (
    CorpusAddParameters,
    CorpusChainsParameters,
    CorpusIndexing,
    CorpusIndexParameters,
    CorpusName,
)
from hopwright.settings.naming import name_parameter
from hopwright.settings.paths import articles_file, home, sample_folder
from hopwright.settings.presets import list_changes, read_document_presets

_P = TypeVar("_P", bound=CorpusName)
SAMPLE = "sample"
"""What stands for the articles that ship with the project."""
_FIRST = ("preset", "corpus", "documents", "facts", "folder", "replace", "hops", "most", "seed")
_LAST = ("workers", "notify")


def _arrange_properties(schema: dict[str, Any]) -> None:
    fields: dict[str, Any] = schema["properties"]
    middle = [name for name in fields if name not in (*_FIRST, *_LAST)]
    schema["properties"] = {name: fields[name] for name in (*_FIRST, *middle, *_LAST)}
    number_fields(schema)


class DocumentBuildParameters(CorpusChainsParameters, CorpusIndexing, CorpusAddParameters):
    """Documents and facts → a corpus with its index → a folder of proven questions."""

    model_config = ConfigDict(json_schema_extra=_arrange_properties)

    preset: Literal["none", "offline"] = Field(
        default="none",
        title="Preset",
        description="Fills in what is left at its default. offline: the articles and the facts that ship with "
        "Hopwright, and 100 questions of each kind and number of hops; it needs no key, no GPU and no network.",
    )
    documents: Annotated[str, Cli(metavar="PATH|sample")] = Field(
        default="",
        max_length=4096,
        title="Documents",
        description="A file, an archive or a folder of documents; sample: the articles that ship with Hopwright. "
        "Empty takes the corpus as it is.",
    )
    facts: Annotated[str, Cli(metavar="FOLDER")] = Field(
        default="",
        max_length=4096,
        title="Facts",
        description="Folder with Wikidata5M's files, in which the facts are looked up that the documents state; empty "
        "takes the sample that ships with Hopwright.",
    )
    folder: str = Field(
        default="",
        max_length=4096,
        title="Folder",
        description="Folder to write: a new or an empty one. Empty takes one that is named after the corpus, below "
        "document-questions in Hopwright's home; there a path that is not absolute begins, too.",
    )
    replace: bool = Field(
        default=False,
        title="Replace",
        description="Replace the questions that were written to the folder earlier, unless they were changed.",
    )
    notify: str = Field(
        default="",
        max_length=200,
        pattern=r"^([a-z0-9-]+/[a-z0-9-]+)?$",
        title="Notify",
        description="Prefect notification block that is told when the run fails or crashes, such as "
        "slack-webhook/ops; empty takes HOPWRIGHT_NOTIFY of the environment.",
    )

    @model_validator(mode="before")
    @classmethod
    def fill_in_the_preset(cls, values: Any) -> Any:
        """What differs from its default was chosen, and goes before the preset: a form sends everything."""
        name = values.get("preset") if isinstance(values, Mapping) else None
        if not isinstance(name, str) or name not in read_document_presets():
            return values
        return {**read_document_presets()[name], **list_changes(values, _make_defaults()), "preset": name}

    def documents_path(self) -> Path | None:
        """The documents as an absolute path; None where the corpus is taken as it is."""
        if self.documents == SAMPLE:
            return articles_file()
        return Path(self.documents).expanduser().absolute() if self.documents else None

    def facts_folder(self) -> Path:
        """The folder of facts as an absolute path. Raises InputError where there is none."""
        folder = Path(self.facts).expanduser().absolute() if self.facts else sample_folder()
        if not folder.is_dir():
            raise InputError(f"{name_parameter('facts')}: {folder}: no such folder")
        return folder

    def questions_folder(self) -> Path:
        """The folder to write as an absolute path."""
        named = self.folder or f"document-questions/{self.corpus}"
        return home() / Path(named).expanduser()

    def adding(self) -> CorpusAddParameters:
        """How the documents are read."""
        return _take(self, CorpusAddParameters)

    def indexing(self) -> CorpusIndexParameters:
        """How the corpus is indexed: whole, on this machine."""
        return CorpusIndexParameters.model_validate(_take(self, CorpusIndexing).model_dump())

    def asking(self) -> CorpusChainsParameters:
        """Which questions are made."""
        return _take(self, CorpusChainsParameters)


def read_document_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """What was chosen on the command line over the preset, a value that is the default included."""
    name = options.get("preset")
    if not isinstance(name, str) or name not in read_document_presets():
        return dict(options)
    return {**read_document_presets()[name], **{key: value for key, value in options.items() if key != "preset"}}


@functools.cache
def _make_defaults() -> DocumentBuildParameters:
    return DocumentBuildParameters()


def _take(parameters: DocumentBuildParameters, model: type[_P]) -> _P:
    return model.model_validate({name: getattr(parameters, name) for name in model.model_fields})

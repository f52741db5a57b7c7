"""The tools of an agent, each a line of `KINDS`: `search(query, k)` and `read(id)` over a corpus, and
`image_search(image, k)`, which looks a picture of the question up among known pictures (MMhops-R1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopwright.environments.task import FoundPassage
from hopwright.errors import InputError
from hopwright.foreign import show_invalid
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.documents.store import CorpusText
from hopwright.llm.tool_calls import ToolCall, ToolSpec

MOST_PASSAGES = 10
_USUAL_PASSAGES = 3
_LONGEST_QUERY = 1_000
_UNKNOWN = "nothing has that id: give the id of a passage as a search shows it"
_WINDOW = 6_000
"""Characters that `read` shows at most: some thousand words."""


class SearchArguments(BaseModel):
    """The arguments of `search`."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=_LONGEST_QUERY, description="What to look for, in a few words.")
    k: int = Field(_USUAL_PASSAGES, ge=1, le=MOST_PASSAGES, description="How many passages to show.")


class ReadArguments(BaseModel):
    """The arguments of `read`."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=300, description="The id of a passage, as a search shows it.")


class ImageSearchArguments(BaseModel):
    """The arguments of `image_search`."""

    model_config = ConfigDict(extra="forbid")

    image: int = Field(1, ge=1, description="Which picture of the question to look up; the first is 1.")
    k: int = Field(1, ge=1, le=MOST_PASSAGES, description="How many of the most similar pictures to tell about.")


SEARCH = ToolSpec(
    "search", "Find passages in the collection. The best ones are shown with their ids.",
    SearchArguments.model_json_schema(),
)  # fmt: skip
READ = ToolSpec(
    "read", "Show a passage together with the text of its document around it.", ReadArguments.model_json_schema()
)
IMAGE_SEARCH = ToolSpec(
    "image_search", "Find known pictures that look most like a picture of the question, and be told what they show.",
    ImageSearchArguments.model_json_schema(),
)  # fmt: skip


class PassageFinder(Protocol):
    """Whatever can be searched and read."""

    def search(self, query: str, most: int) -> Sequence[FoundPassage]:
        """The best passages, at most `most`."""
        ...

    def read(self, id: str) -> FoundPassage:
        """The text around a passage. Raises InputError for an unknown id."""
        ...


@runtime_checkable
class PictureLooker(Protocol):
    """Whatever can look the pictures of a question up."""

    def look_up(self, image: int, most: int) -> Sequence[FoundPassage]:
        """What is known of the pictures most like the question's picture of that number, from 1, at most `most`.

        Raises InputError where the question has no such picture.
        """
        ...


class CorpusFinder:
    """A corpus with its index."""

    def __init__(self, retriever: Retriever) -> None:
        self.retriever = retriever

    def search(self, query: str, most: int) -> list[FoundPassage]:
        """The best passages, at most `most`."""
        return [show_passage(hit.passage) for hit in self.retriever.search(query, most)]

    def read(self, id: str) -> FoundPassage:
        """The passage with what is around it in its document. Raises InputError for an unknown id."""
        document, span, _ = self.retriever.store.find(id)
        start, end = (span.start, span.end) if span is not None else (0, 0)
        spare = max(_WINDOW - (end - start), 0)
        first = max(min(start - spare // 2, len(document.text) - _WINDOW), 0)
        last = max(min(first + _WINDOW, len(document.text)), end)
        return FoundPassage(id, document.title, document.text[first:last], document.id, first, last)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to: the text that the agent is shown, and what is known of it."""

    text: str
    query: str = ""
    passages: tuple[FoundPassage, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ToolKind:
    """A tool: how models are told of it, its arguments, what carries it out, and by what kind of finder it can be."""

    spec: ToolSpec
    arguments: type[BaseModel]
    run: Callable[[Any, Any], ToolResult]
    needs: type = object


def search_passages(asked: SearchArguments, finder: PassageFinder) -> ToolResult:
    """The passages that a query finds."""
    found = tuple(finder.search(asked.query, asked.k))
    return ToolResult(render_passages(found) or "No passage was found.", asked.query, found)


def read_passage(wanted: ReadArguments, finder: PassageFinder) -> ToolResult:
    """The text around a passage. Raises InputError for an unknown id."""
    passage = finder.read(wanted.id)
    return ToolResult(render_passages([passage]), "", (passage,))


def look_picture_up(asked: ImageSearchArguments, finder: PictureLooker) -> ToolResult:
    """What pictures like one of the question show. Raises InputError where the question has no such picture."""
    found = tuple(finder.look_up(asked.image, asked.k))
    return ToolResult(render_passages(found) or "No picture like it is known.", f"picture {asked.image}", found)


KINDS: dict[str, ToolKind] = {
    SEARCH.name: ToolKind(SEARCH, SearchArguments, search_passages),
    READ.name: ToolKind(READ, ReadArguments, read_passage),
    IMAGE_SEARCH.name: ToolKind(IMAGE_SEARCH, ImageSearchArguments, look_picture_up, PictureLooker),
}
"""Every tool by its name."""
TOOLS = (SEARCH, READ)
"""The tools over a corpus."""
PICTURE_TOOLS = (IMAGE_SEARCH, *TOOLS)
"""The tools of an agent that is asked about pictures."""


def carry_out(call: ToolCall, finder: PassageFinder) -> ToolResult:
    """Carry out a call; what is wrong with a malformed one is its result, for the agent to put right."""
    try:
        arguments = call.read_arguments()
        known = {name: kind for name, kind in KINDS.items() if isinstance(finder, kind.needs)}
        if call.name in known:
            kind = known[call.name]
            return kind.run(kind.arguments.model_validate(arguments), finder)
        problem = f"there is no tool {call.name!r}; the tools are {', '.join(known)}"
    except ValidationError as error:
        problem = show_invalid(error)
    except InputError as error:
        problem = str(error) if call.name == IMAGE_SEARCH.name else _UNKNOWN
    except ValueError as error:
        problem = str(error)
    return ToolResult(f"This call cannot be carried out: {problem}.", problem=problem)


def render_passages(passages: Sequence[FoundPassage]) -> str:
    """Passages as an agent is shown them."""
    return "\n\n".join(f"[{one.id}] {one.title}\n{one.text}" for one in passages)


def show_passage(passage: CorpusText) -> FoundPassage:
    """A passage of a corpus as one that is shown."""
    return FoundPassage(passage.id, passage.title, passage.text, passage.document, passage.start, passage.end)


def to_function_specs(tools: Sequence[ToolSpec] = TOOLS) -> list[dict[str, Any]]:
    """The tools as other programs take them: name, description and JSON schema of the arguments."""
    return [tool.to_dict() for tool in tools]

"""Documents, what is cited of them, and questions that hold pictures."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hopwright.records.base import Record

MediaHash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""The SHA-256 of a media file, in hexadecimal digits."""
DocumentId = Annotated[str, Field(min_length=1, max_length=200)]
Offset = Annotated[int, Field(ge=0)]
"""A place in a text, in characters (Unicode code points) from its start."""
Pixels = Annotated[int, Field(ge=0)]
Length = Annotated[int, Field(ge=1)]


class Document(Record):
    """A text or a picture that questions are asked about.

    It holds either `text` or `media`, the SHA-256 of a file that is kept elsewhere. `source` says where it was found
    (an address, or a citation), `revision` which state of it this is.
    """

    id: DocumentId
    title: str
    text: str = ""
    media: MediaHash | None = None
    media_type: str = ""
    licence: str
    source: str
    revision: str = ""

    @model_validator(mode="after")
    def _holds_one_content(self) -> Self:
        if bool(self.text) == bool(self.media):
            raise ValueError("a document holds either text or media")
        return self

    def cite(self, start: int, end: int) -> Span:
        """Quote the characters from `start` up to `end`. Raises ValueError when the text does not reach that far."""
        if not 0 <= start < end <= len(self.text):
            raise ValueError(f"document {self.id} has no characters {start} to {end}")
        return Span(document=self.id, start=start, end=end, text=self.text[start:end])


class Span(Record):
    """A quotation: the characters `start` up to `end` of a document's text."""

    kind: Literal["span"] = "span"
    document: DocumentId
    start: Offset
    end: Offset
    text: str

    @model_validator(mode="after")
    def _is_as_long_as_its_text(self) -> Self:
        if not self.text or self.end - self.start != len(self.text):
            raise ValueError("a span holds the text between its start and its end")
        return self


class ImageRegion(Record):
    """A rectangle of a document that is a picture, in pixels from its upper left corner; `label` says what it shows."""

    kind: Literal["image_region"] = "image_region"
    document: DocumentId
    left: Pixels
    top: Pixels
    width: Length
    height: Length
    label: str = ""


class TextPart(Record):
    """A piece of a question that is text."""

    kind: Literal["text"] = "text"
    text: str


class ImagePart(Record):
    """A piece of a question that is a picture; `description` stands for it where only text can be shown."""

    kind: Literal["image"] = "image"
    media: MediaHash
    description: str


QuestionPart = Annotated[TextPart | ImagePart, Field(discriminator="kind")]


def render_parts(parts: tuple[TextPart | ImagePart, ...]) -> str:
    """Write a question of parts as plain text, its pictures by their descriptions in square brackets."""
    return "".join(part.text if isinstance(part, TextPart) else f"[{part.description}]" for part in parts)


class Question(Record):
    """A question as plain text, and its parts where it holds pictures; without pictures there are no parts."""

    question: str
    question_parts: tuple[QuestionPart, ...] = ()

    @model_validator(mode="after")
    def _reads_as_its_parts(self) -> Self:
        if self.question_parts and self.question != render_parts(self.question_parts):
            raise ValueError("the question is not what its parts read as")
        return self

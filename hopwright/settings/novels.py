"""How novels are read, and which questions are asked about their windows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hopwright.settings.base import MODEL_PATTERN, NAME_PATTERN, Cli, Parameters
from hopwright.settings.models import ModelParameters

NovelLength = Literal["4k", "8k", "16k", "32k", "64k", "96k", "128k"]
NovelMode = Literal["window", "gold", "none", "irrelevant", "rag"]


class NovelsName(Parameters):
    """Which shelf of novels is meant."""

    shelf: str = Field(
        default="novels",
        pattern=NAME_PATTERN,
        title="Shelf",
        description="Name of the folder of novels in Hopwright's home.",
    )


class NovelsAddParameters(NovelsName):
    """What is said of a book that is added; what is left empty is taken from its file."""

    title: str = Field(default="", max_length=300, title="Title", description="The book's title.")
    author: str = Field(default="", max_length=300, title="Author", description="Who wrote the book.")
    year: str = Field(default="", max_length=20, title="Year", description="The year in which it was published.")
    licence: str = Field(
        default="", max_length=300, title="Licence", description="Under which licence the text may be passed on."
    )
    source: str = Field(default="", max_length=500, title="Source", description="Where the file was found.")


class NovelDrawing(NovelsName):
    """Which chains are drawn in windows of novels."""

    books: Annotated[list[str], Cli(("--book", "--books"), metavar="ID")] = Field(
        default=[],
        max_length=1000,
        title="Books",
        description="Beginnings of the ids of the books that are asked about. Without any, all of the shelf.",
    )
    items: int = Field(
        default=200,
        ge=1,
        le=10_000,
        title="Items",
        description="How many different chains are kept for each book and each number of hops, at most.",
    )
    hops: Annotated[list[Literal["1", "2", "3", "4"]], Cli(("--hops",))] = Field(
        default=["1", "2", "3", "4"], min_length=1, title="Hops", description="Numbers of hops of a question."
    )
    lengths: Annotated[list[NovelLength], Cli(("--length", "--lengths"))] = Field(
        default=["64k", "96k", "128k"],
        min_length=1,
        title="Lengths",
        description="Lengths of the windows in tokens; k is 1,024.",
    )
    distance: int = Field(
        default=0,
        ge=0,
        le=100_000,
        title="Distance",
        description="The fewest tokens between the paragraphs of two hops that follow each other.",
    )
    distance_most: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Largest distance",
        description="The most tokens between the paragraphs of two hops that follow each other; 0 sets no limit.",
    )
    depths: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Cli(("--depth",), "0..1")] = Field(
        default=[],
        max_length=20,
        title="Depths",
        description="Where in its window the paragraph with the answer begins, from 0 to 1. Each chain is "
        "asked at each of these depths where it fits and is proven. Without any, windows are drawn.",
    )
    tokenizer: str = Field(
        default="words",
        max_length=4096,
        title="Tokenizer",
        description="What counts tokens: words, which needs no file, or the path of a tokenizer.json.",
    )
    twins: bool = Field(
        default=True,
        title="Twins",
        description="Make the twin of every question that has one: the same window with everybody and every place "
        "renamed.",
    )
    embed: bool = Field(
        default=False,
        title="Embed",
        description="Put the text of every window into the data set. Without it, windows are places in a book, and the "
        "loader that comes with the set cuts them out of the book's file.",
    )
    finder: str = Field(
        default="rules",
        max_length=500,
        pattern=r"^(?:rules|spacy(?::[\w.-]+)?|[^\s/:]+/\S+)$",
        title="Finder",
        description="Who finds the names in a book: rules; spacy, or spacy:PACKAGE for a package with another model; "
        "or a language model, as endpoint/model.",
    )
    seed: int = Field(default=0, ge=0, title="Seed", description="Draws the questions and the names of the twins.")
    access: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Access",
        description="Where the models are asked and what they may cost.",
    )


class NovelQuestionsParameters(NovelDrawing):
    """Which questions are asked about novels, in the words of rules."""


class NovelAskParameters(NovelDrawing):
    """Which chains a model words and answers, hop by hop within one paragraph."""

    model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=500,
        pattern=MODEL_PATTERN,
        title="Model",
        description="The model that asks about each hop's paragraph and answers, as endpoint/model.",
    )
    filters: Annotated[
        list[Annotated[str, Field(min_length=3, max_length=500, pattern=MODEL_PATTERN)]],
        Cli(("--filter", "--filters"), metavar="ENDPOINT/MODEL"),
    ] = Field(
        default=[],
        title="Filters",
        description="Models that answer from the golden paragraphs. A question that any of them misses is left out.",
    )
    items: int = Field(
        default=20,
        ge=1,
        le=10_000,
        title="Items",
        description="How many different chains the model is asked for, for each book and each number of hops, at most.",
    )


class NovelStarParameters(NovelsName):
    """Which questions a model asks about novels in the paper's way: paragraphs around one keyword."""

    books: Annotated[list[str], Cli(("--book", "--books"), metavar="ID")] = Field(
        default=[],
        max_length=1000,
        title="Books",
        description="Beginnings of the ids of the books that are asked about. Without any, all of the shelf.",
    )
    model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=500,
        pattern=MODEL_PATTERN,
        title="Model",
        description="The model that names keywords and asks the questions, as endpoint/model.",
    )
    filters: Annotated[
        list[Annotated[str, Field(min_length=3, max_length=500, pattern=MODEL_PATTERN)]],
        Cli(("--filter", "--filters"), metavar="ENDPOINT/MODEL"),
    ] = Field(
        default=[],
        title="Filters",
        description="Models that answer from the golden paragraphs. A question that any of them misses is left out.",
    )
    items: int = Field(
        default=20, ge=1, le=10_000, title="Items", description="Chains begun for each book and number of hops."
    )
    hops: Annotated[list[Literal["1", "2", "3", "4"]], Cli(("--hops",))] = Field(
        default=["1", "2", "3", "4"], min_length=1, title="Hops", description="Numbers of hops of a question."
    )
    length: NovelLength = Field(
        default="64k", title="Length", description="Length of the windows in tokens; k is 1,024."
    )
    least: int = Field(
        default=50,
        ge=2,
        le=100_000,
        title="Occurrences",
        description="How often the keyword of a chain occurs in the book, at least; the paper asks for 50.",
    )
    tries: int = Field(
        default=7,
        ge=1,
        le=50,
        title="Tries",
        description="How often a further keyword is asked for before a chain is given up; the paper's number is 7.",
    )
    tokenizer: str = Field(
        default="words",
        max_length=4096,
        title="Tokenizer",
        description="What counts tokens: words, which needs no file, or the path of a tokenizer.json.",
    )
    seed: int = Field(default=0, ge=0, title="Seed", description="Draws windows, keywords and paragraphs.")
    access: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Access",
        description="Where the models are asked and what they may cost.",
    )


class NovelsExportParameters(NovelsName):
    """Which questions about novels are exported for other programs, and for which."""

    forms: Annotated[list[Literal["lm-eval", "inspect"]], Cli(("--form",))] = Field(
        default=["lm-eval", "inspect"],
        min_length=1,
        title="Forms",
        description="Programs that evaluate: lm-eval is EleutherAI's harness, inspect that of the UK AI Security "
        "Institute.",
    )
    twins: bool = Field(default=False, title="Twins", description="Export the twins of the questions too.")
    limit: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Limit",
        description="At most so many questions of each number of hops and length; 0 takes all.",
    )


class NovelsEvaluateParameters(NovelsName):
    """Which models are asked about novels, and what they are given to read."""

    models: Annotated[
        list[Annotated[str, Field(min_length=3, max_length=500, pattern=MODEL_PATTERN)]],
        Cli(("--model", "--models"), metavar="ENDPOINT/MODEL"),
    ] = Field(default=[], title="Models", description="Models that are asked, each as endpoint/model.")
    modes: Annotated[list[NovelMode], Cli(("--mode", "--modes"))] = Field(
        default=["window"],
        min_length=1,
        title="Modes",
        description="window: the whole window; gold: only the paragraphs of the hops; none: only the question; "
        "irrelevant: paragraphs of another book; rag: the chunks of the window that a search for the question finds.",
    )
    judge: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=500,
        pattern=MODEL_PATTERN,
        title="Judge",
        description="A model that says whether an answer which no name of the right one matches means the same. Empty "
        "for none.",
    )
    cot: bool = Field(default=False, title="Chain of thought", description="Ask for reasoning before the answer.")
    twins: bool = Field(
        default=True, title="Twins", description="Ask the twins too, and report the difference where both were asked."
    )
    chunk: int = Field(
        default=350, ge=50, le=5000, title="Chunk", description="Tokens of a chunk that is searched, as in the paper."
    )
    chunks: int = Field(
        default=7,
        ge=1,
        le=100,
        title="Chunks",
        description="How many chunks are given in the mode rag, as in the paper.",
    )
    limit: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Limit",
        description="At most so many questions of each number of hops and length; 0 takes all.",
    )
    max_tokens: int = Field(
        default=512, ge=16, le=32_768, title="Tokens", description="The most that a model may write for an answer."
    )
    access: ModelParameters = Field(
        default_factory=ModelParameters,
        title="Access",
        description="Where the models are asked and what they may cost.",
    )

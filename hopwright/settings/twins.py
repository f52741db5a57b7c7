"""Counterfactual twins and their passages."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hopwright.settings.base import MODEL_PATTERN, Cli, ModelName, Parameters
from hopwright.settings.naming import name_parameter


class RewriteParameters(Parameters):
    """Counterfactual twins: the same reasoning in a world of invented names and shifted numbers."""

    enabled: Annotated[bool, Cli(("--twins/--no-twins",), main=True)] = Field(
        default=True, title="Make twins", description="Make a counterfactual twin of each item."
    )
    passages: Annotated[Literal["rules", "llm", "corpus", "off"], Cli(("--evidence-passages",))] = Field(
        default="rules",
        title="Evidence passages",
        description="Passages of items and twins. rules or llm word them from the facts, corpus takes those of a "
        "corpus that hold the answer, off makes none.",
    )
    passage_model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=200,
        pattern=MODEL_PATTERN,
        title="Model of the passages",
        description="The model that words the passages where llm is chosen, as endpoint/model.",
    )
    corpus: Annotated[str, Cli(("--passage-corpus",), "FILE")] = Field(
        default="",
        max_length=4096,
        title="Corpus of passages",
        description="File of {title, text} in JSON or JSON lines, where corpus is chosen.",
    )
    distractor_passages: int = Field(
        default=1,
        ge=0,
        le=3,
        title="Distractor passages per hop",
        description="Number of passages per hop that look as if they held the answer and do not.",
    )
    back_translation: Annotated[Literal["auto", "apertium", "llm", "marian", "off"], Cli(main=True)] = Field(
        default="auto",
        title="Back-translation",
        description="Reword twins by a round trip through another language: auto uses Apertium (Spanish) when it is "
        "installed, apertium insists on it, llm asks a language model, marian runs local weights, off does nothing.",
    )
    translation_model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=200,
        pattern=MODEL_PATTERN,
        title="Model of the back-translation",
        description="The model that translates where llm is chosen, as endpoint/model.",
    )
    pivots: Annotated[list[Annotated[str, Field(min_length=2, max_length=100)]], Cli(metavar="LANGUAGE")] = Field(
        default=["Chinese"],
        min_length=1,
        max_length=5,
        title="Pivot languages",
        description="Languages to go through when a language model translates, tried in turn; 'Chinese, German' goes "
        "through both.",
    )
    weights: Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Cli(metavar="FOLDER")] = Field(
        default=[],
        max_length=8,
        title="MarianMT weights",
        description="Folders of MarianMT models in the order of the round trip, as opus-mt-en-zh and opus-mt-zh-en.",
    )
    tries: int = Field(
        default=2,
        ge=1,
        le=4,
        title="Tries per pivot",
        description="How many different round trips a text that fails a gate is sent on before the next pivot.",
    )
    max_overlap: float = Field(
        default=1.0,
        gt=0,
        le=1,
        title="Largest overlap",
        description="A reworded text may share at most this part of the old one's pairs of neighbouring words.",
    )
    min_similarity: float = Field(
        default=0.0,
        ge=0,
        le=1,
        title="Least similarity",
        description="A reworded text must be at least this similar by sentence embeddings (needs the local extra); "
        "0 does not measure it.",
    )
    judge_model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=200,
        pattern=MODEL_PATTERN,
        title="Judge of the meaning",
        description="A model, as endpoint/model, that must say that a reworded text means the same; empty asks none.",
    )
    memory_voters: Annotated[list[ModelName], Cli(metavar="ENDPOINT/MODEL")] = Field(
        default=[],
        max_length=8,
        title="Voters from memory",
        description="Models, as endpoint/model, that answer originals and twins without passages, to show that memory "
        "does not help; empty asks the shortcut solvers, which remember nothing.",
    )
    memory_items: int = Field(
        default=100,
        ge=0,
        le=100_000,
        title="Pairs for the voters",
        description="Number of originals, each with its twin, that the voters answer; 0 asks none.",
    )

    @model_validator(mode="after")
    def check_what_is_asked(self) -> Self:
        """Say at once what a chosen way lacks."""
        lacking = {
            "passage_model": self.passages == "llm" and not self.passage_model,
            "corpus": self.passages == "corpus" and not self.corpus,
            "translation_model": self.back_translation == "llm" and not self.translation_model,
            "weights": self.back_translation == "marian" and len(self.weights) < 2,
        }
        for name, is_lacking in lacking.items():
            if is_lacking:
                chosen = "passages" if name in ("passage_model", "corpus") else "back_translation"
                named, needed = name_parameter(f"rewrite.{chosen}"), name_parameter(f"rewrite.{name}")
                raise ValueError(f"{named} {getattr(self, chosen)} needs {needed}")
        return self

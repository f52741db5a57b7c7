"""How questions are planned and worded."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from hopwright.settings.base import MODEL_PATTERN, Cli, ModelName, Parameters
from hopwright.settings.naming import name_parameter
from hopwright.topologies import TOPOLOGIES

Share = Annotated[float, Field(ge=0, le=1000)]

DomainName = Literal["history", "art", "geography", "politics", "science", "film", "sports", "business"]


class _KnownTopologies:
    """Has forms list the topologies that are known."""

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        return {"type": "string", "enum": list(TOPOLOGIES)}


def _check_topology(name: str) -> str:
    if name not in TOPOLOGIES:
        raise ValueError(f"should be one of {', '.join(TOPOLOGIES)}")
    return name


TopologyName = Annotated[str, AfterValidator(_check_topology), _KnownTopologies()]


class TargetParameters(Parameters):
    """What the set of items shall be like: shares in any scale (2 and 1 are two thirds and one third).

    A share that the graph cannot give is missed; the run says which, how far, and at which step planning fails.
    """

    topologies: dict[TopologyName, Share] = Field(
        default={}, title="Topologies", description="Shares of the topologies; those not named here have a share of 1."
    )
    kinds: dict[Literal["temporal", "counting", "comparison", "arithmetic", "combinatorics"], Share] = Field(
        default={"comparison": 80, "temporal": 6, "counting": 12, "arithmetic": 2, "combinatorics": 0},
        min_length=1,
        title="Computations",
        description="Shares of what the computing hops do.",
    )
    answers: dict[Literal["entity", "number", "year", "date"], Share] = Field(
        default={"entity": 83, "number": 14, "year": 2, "date": 1},
        min_length=1,
        title="Final answers",
        description="Shares of the types of the final answer.",
    )
    popularity: dict[Literal["head", "middle", "tail"], Share] = Field(
        default={"head": 20, "middle": 40, "tail": 40},
        min_length=1,
        title="Popularity",
        description="Shares of the well-known, the middling and the obscure: thirds, by their number of facts, of the "
        "entities that can be asked about; an item's is that of what its look-ups name.",
    )
    anchoring: dict[Literal["2", "1", "0", "none"], Share] = Field(
        default={"2": 15, "1": 15, "0": 10, "none": 60},
        min_length=1,
        title="Anchoring",
        description="Shares of the items that keep both single hops of their anchor question, the second, only its "
        "answer, or that are chains of the graph without an anchor.",
    )
    difficulty: dict[Literal["hard", "medium", "easy"], Share] = Field(
        default={"hard": 50, "medium": 40, "easy": 10},
        min_length=1,
        title="Difficulty",
        description="Shares by what one has to know. hard: at least five facts, one of them about something obscure. "
        "easy: at most three facts, or none about anything less than well known.",
    )
    domains: dict[DomainName, Share] = Field(
        default={"film": 0.4, "history": 0.6, "art": 2, "business": 2, "sports": 1.5, "geography": 1.5, "science": 1.5},
        title="Domains",
        description="How welcome each knowledge domain is; 1 where it is not named.",
    )
    property_share: float = Field(
        default=0.12,
        gt=0,
        le=1,
        title="Largest share of a property",
        description="A property in more than this share of the hops is held back as far as there are others.",
    )
    theme_share: float = Field(
        default=0.04,
        gt=0,
        le=1,
        title="Largest share of a theme",
        description="An entity, league, race, or the clubs of one country in more than this share of the items is "
        "held back likewise.",
    )
    renown: float = Field(
        default=2.5,
        ge=0,
        le=5,
        title="Largest renown",
        description="What a source rates as better known than this has no part in a question: from 1 (hardly anybody "
        "has heard of it) to 5 (nearly all well-read people know who made it). 5 leaves nothing out.",
    )

    @field_validator("topologies", "kinds", "answers", "popularity", "anchoring", "difficulty", "domains")
    @classmethod
    def refuse_nothing(cls, shares: dict[str, float]) -> dict[str, float]:
        """Shares that are all nought ask for no item at all."""
        if shares and not any(shares.values()):
            raise ValueError("at least one share must be above 0")
        return shares


class SynthesizeParameters(Parameters):
    """How questions are planned and worded."""

    drafts: int = Field(
        default=1000,
        ge=1,
        le=10_000_000,
        title="Drafts",
        description="Number of plans to draw. Fewer items come out, because those that fail a check or are too easy "
        "are dropped.",
    )
    topologies: Annotated[list[TopologyName], Cli(("--topology", "--topologies"))] = Field(
        default=["chain", "converging", "bridge"],
        min_length=1,
        max_length=8,
        title="Topologies",
        description="Shapes of the questions: three topologies of four hops, and shorter and longer ones.",
    )
    targets: TargetParameters = Field(
        default_factory=TargetParameters, title="Targets", description="What the whole set of items should be like."
    )
    min_domains: int = Field(
        default=2,
        ge=1,
        le=4,
        title="Domains per item",
        description="Smallest number of knowledge domains that the hops of one item span.",
    )
    coherence: float = Field(
        default=0.5,
        ge=0,
        le=0.9,
        title="Coherence",
        description="How well the parts of a plan must belong together, from 0 (anything goes) to 1: how closely its "
        "branches are related, how natural its computations and how specific its facts are.",
    )
    max_answer_share: float = Field(
        default=0.02,
        gt=0,
        le=1,
        title="Largest share of an answer",
        description="A final answer is the answer of at most this share of the items.",
    )
    max_frame_share: float = Field(
        default=0.04,
        gt=0,
        le=1,
        title="Largest share of a frame",
        description="Questions that differ in names, years and direction only, such as how old the director of a film "
        "turned when it came out, are at most this share of the drafts that are kept.",
    )
    embeddings: Literal["off", "on", "auto"] = Field(
        default="off",
        title="Sentence embeddings",
        description="How alike two wrong options are. off: by spelling and the graph, the same bytes everywhere. "
        "on: also by sentence embeddings (the extra local must be installed). auto: on where it is installed.",
    )

    claims: Annotated[str, Cli(metavar="FILE")] = Field(
        default="",
        max_length=4096,
        title="Bank of claims",
        description="JSON lines of numbers that no graph holds, each with its source (hopwright claims propose), that "
        "computations may rest on; they are marked for the experts and counted apart. Empty uses none.",
    )
    claim_share: float = Field(
        default=0.05,
        ge=0,
        le=1,
        title="Share on claims",
        description="The share of the drafts that may rest on a claim of the bank; without a bank, none does.",
    )
    items: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        title="Items",
        description="Number of items that synthesis ends with. More drafts are drawn while items are missing. "
        "0 keeps all items that the drafts give.",
    )
    writer: Literal["rules", "anthropic", "openai"] = Field(
        default="rules",
        title="Writer",
        description="What words the proven plans: rules (free and exact), or a model that speaks Anthropic's or "
        "OpenAI's format.",
    )
    model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=200,
        pattern=MODEL_PATTERN,
        title="Model",
        description="The model that words the questions, as endpoint/model, such as anthropic/claude-sonnet-5-5. "
        "Leave it empty for rules.",
    )
    fallback_models: Annotated[list[ModelName], Cli(metavar="ENDPOINT/MODEL")] = Field(
        default=[],
        max_length=4,
        title="Fall-back models",
        description="Models that are asked in turn while the first model is down, as endpoint/model.",
    )
    temperature: float = Field(
        default=0.7,
        ge=0,
        le=2,
        title="Temperature",
        description="Sampling temperature of the model. It is left out where an endpoint's models refuse it.",
    )
    rounds: int = Field(
        default=3,
        ge=1,
        le=3,
        title="Rounds",
        description="Largest number of answers that a model gives for one item: the first, and those that correct "
        "the one before.",
    )
    reading_model: Annotated[str, Cli(metavar="ENDPOINT/MODEL")] = Field(
        default="",
        max_length=200,
        pattern=MODEL_PATTERN,
        title="Reading model",
        description="A model that reads every question back without its plan and answers it from the plan's facts, as "
        "endpoint/model, best another one than the writer. Two requests an item; a question that it understands "
        "otherwise is worded again. Leave it empty for no reading.",
    )
    objections: Annotated[str, Cli(metavar="FILE")] = Field(
        default="",
        max_length=4096,
        title="Objections to learn from",
        description="The objections.json of an earlier run (in its synthesize/yield): plans that a model objected to, "
        "and kinds of plans that it mostly found unnatural, are dropped before anything is paid. Empty drops none.",
    )
    keep_rules: bool = Field(
        default=False,
        title="Keep the rules' wording",
        description="When no answer of the model fits, keep the item in the rules' words and label it so, "
        "instead of rejecting it.",
    )

    def list_models(self) -> tuple[str, ...]:
        """The models that wording asks: the writer's, in the order in which they are tried, and the reader's."""
        return tuple(filter(None, (self.model, *self.fallback_models, self.reading_model)))

    def claims_file(self) -> Path | None:
        """The bank of claims as an absolute path; None for none."""
        return Path(self.claims).expanduser().absolute() if self.claims else None

    def objections_file(self) -> Path | None:
        """The table of objections as an absolute path; None for none."""
        return Path(self.objections).expanduser().absolute() if self.objections else None

    @model_validator(mode="after")
    def demand_model(self) -> Self:
        """A model is named exactly when one words."""
        if self.writer != "rules" and not self.model:
            model = name_parameter("synthesize.model")
            raise ValueError(f"the writer {self.writer} needs a model: give {model} as endpoint/model")
        if self.writer == "rules" and (self.model or self.fallback_models or self.reading_model):
            writer = name_parameter("synthesize.writer")
            raise ValueError(f"the writer rules asks no model: set {writer} to anthropic or openai, or name no model")
        return self

    @field_validator("topologies")
    @classmethod
    def refuse_repeats(cls, names: list[str]) -> list[str]:
        """A topology named twice would get a double share by accident."""
        if len(set(names)) != len(names):
            raise ValueError("each topology may be named once")
        return names

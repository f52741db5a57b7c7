"""How a corpus of documents is read, indexed and served."""

from typing import Annotated, Literal

from pydantic import Field

from hopwright.settings.base import NAME_PATTERN, Cli, Parameters

CorpusFormat = Literal["auto", "jsonl", "json", "tsv", "parquet", "text", "markdown", "html", "pdf"]
StemmingLanguage = Literal[
    "none", "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian",
    "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
]  # fmt: skip
DENSE_PATTERN = r"^(off|local|https?://\S+#\S+)$"


Peer = Annotated[str, Field(max_length=500, pattern=r"^https?://[^\s/]+/?$")]
ShardPartOption = Annotated[
    str,
    Cli(metavar="N/OF"),
    Field(
        max_length=9,
        pattern=r"^\d{1,3}/\d{1,3}$",
        title="Part",
        description="Which of several machines this is: 2/3 has every third shard from the second on; 1/1 has all.",
    ),
]
Address = Annotated[
    str,
    Field(min_length=1, max_length=253, title="Address", description="Address to listen at; there is no password."),
]
Port = Annotated[int, Field(ge=0, le=65_535, title="Port", description="Port to listen at; 0 takes a free one.")]


class CorpusName(Parameters):
    """Which corpus is meant."""

    corpus: str = Field(
        default="documents",
        pattern=NAME_PATTERN,
        title="Corpus",
        description="Name of the corpus's folder in Hopwright's home.",
    )


class CorpusAddParameters(CorpusName):
    """How documents are read into a corpus."""

    format: CorpusFormat = Field(
        default="auto",
        title="Format",
        description="Format of the files; auto takes it from their endings. Rows of data sets are recognised by their "
        "fields, whatever the file's format.",
    )
    licence: Annotated[str, Cli(metavar="NAME")] = Field(
        default="unknown",
        min_length=1,
        max_length=200,
        title="Licence",
        description="Licence of the documents that do not name one themselves.",
    )
    revision: Annotated[str, Cli(metavar="TEXT")] = Field(
        default="",
        max_length=200,
        title="Revision",
        description="State of the source, such as the date of a dump; a document's own goes before it.",
    )
    passage_words: int = Field(
        default=200,
        ge=0,
        le=10_000,
        title="Words of a passage",
        description="A longer text is cut into passages of at most so many words, at the ends of sentences where that "
        "is possible; 0 leaves every text whole.",
    )
    near_duplicates: float = Field(
        default=0.9,
        ge=0,
        le=1,
        title="Near duplicates",
        description="Texts that share this part of their three-word shingles with an earlier one, and all names and "
        "numbers, are left out; 0 leaves out exact duplicates only.",
    )
    max_malformed: float = Field(
        default=0.001,
        ge=0,
        le=1,
        title="Malformed rows",
        description="Share of malformed rows in a source that is put up with; above it nothing is added.",
    )


class CorpusIndexing(CorpusName):
    """How a corpus is indexed on one machine."""

    language: StemmingLanguage = Field(
        default="english", title="Language", description="Whose stop words are dropped and word endings are cut."
    )
    shards: int = Field(
        default=0,
        ge=0,
        le=256,
        title="Shards",
        description="Parts of the index, each made by one process; 0 takes one for each 250,000 passages, or for each "
        "machine where there are more of these. What a search finds does not depend on it.",
    )
    dense: Annotated[str, Cli(metavar="off|local|URL#MODEL")] = Field(
        default="off",
        max_length=500,
        pattern=DENSE_PATTERN,
        title="Dense retrieval",
        description="Who embeds the passages for a second list of hits. local: the small model that is installed with "
        "the extra local. http://HOST/v1#MODEL: an endpoint in OpenAI's format.",
    )
    workers: int = Field(
        default=0,
        ge=0,
        le=64,
        title="Worker processes",
        description="Shards that are made side by side; 0 makes one per processor.",
    )


class CorpusIndexParameters(CorpusIndexing):
    """How a corpus is indexed, or this machine's part of it."""

    part: ShardPartOption = "1/1"


class CorpusServeParameters(CorpusName):
    """How a corpus is served."""

    host: Address = "127.0.0.1"
    port: Port = 8000
    part: ShardPartOption = "1/1"
    peers: Annotated[list[Peer], Cli(metavar="URL")] = Field(
        default_factory=list,
        max_length=256,
        title="Peers",
        description="Servers of the parts of one index, which are asked instead of a corpus that is here.",
    )
    topk: int = Field(
        default=3,
        ge=1,
        le=1000,
        title="Passages per query",
        description="How many passages answer a query that does not say so itself.",
    )


class CorpusChainsParameters(CorpusName):
    """Which questions are made over a corpus."""

    hops: list[Literal["2", "3", "4", "5"]] = Field(
        default=["2", "3", "4"],
        min_length=1,
        max_length=4,
        title="Hops",
        description="Numbers of hops of the questions.",
    )
    most: int = Field(
        default=500,
        ge=1,
        le=100_000,
        title="Questions",
        description="The most for each kind (inference, comparison) and number of hops.",
    )
    seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="Seed",
        description="Draws the comparisons and which questions are kept.",
    )


class EnvironmentServeParameters(CorpusName):
    """How episodes of searching agents are served."""

    journal: Annotated[str, Cli(metavar="FOLDER")] = Field(
        default="episodes",
        min_length=1,
        max_length=1000,
        title="Journal",
        description="Folder in which every turn is written down before it is answered; a server that is started again "
        "over it goes on with the episodes that are open.",
    )
    host: Address = "127.0.0.1"
    port: Port = 8100


class AgentParameters(Parameters):
    """The budget of an agent's episodes, and how its ideal transcripts are."""

    max_steps: int = Field(
        default=10, ge=1, le=1000, title="Calls", description="For agents: calls of tools that an episode allows."
    )
    max_turns: int = Field(
        default=0,
        ge=0,
        le=1000,
        title="Turns",
        description="For agents: turns with calls that an episode allows, as the 4 of MMhops-R1; 0 for no bound.",
    )
    max_tokens: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        title="Tokens",
        description="For agents: tokens that may be written and shown in an episode before it has to answer; 0 for no "
        "bound.",
    )
    recoveries: float = Field(
        default=0.2,
        ge=0,
        le=1,
        title="Recoveries",
        description="For trajectories: the share of them in which a search fails first.",
    )


class ExportParameters(CorpusName, AgentParameters):
    """How a dataset is exported; all but the seed is for environments of searching agents."""

    corpus: str = Field(
        default="documents",
        pattern=NAME_PATTERN,
        title="Corpus",
        description="For agents: name of the corpus that they search, in Hopwright's home.",
    )
    seed: int = Field(
        default=0,
        ge=0,
        le=2**32 - 1,
        title="Seed",
        description="Draws the half of multiple-choice examples, the test set, and which searches fail.",
    )
    test_share: float = Field(
        default=0.1,
        ge=0,
        lt=1,
        title="Test share",
        description="For agents: the share of items, with their twins, that is tested on. What shares a fact with them "
        "is left out of training.",
    )

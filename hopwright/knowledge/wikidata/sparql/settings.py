"""Everything that can be set about talking to a SPARQL endpoint."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from hopwright import __version__

WIKIDATA = "https://query.wikidata.org/sparql"


class SparqlSettings(BaseModel):
    """Where to ask, how often, how long, and as whom."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str = Field(WIKIDATA, title="Endpoint", description="Address of a SPARQL 1.1 query service.")
    dialect: Literal["auto", "statements", "truthy"] = Field(
        "auto",
        title="Dialect",
        description="How facts are written there: Wikidata's statements with rank, unit and precision, or plain "
        "triples with typed literals. `auto` asks the endpoint whether it has statements.",
    )
    batch_size: int = Field(100, ge=1, le=5000, title="Batch size", description="Entities asked for in one query.")
    timeout_s: float = Field(
        60.0, gt=0, le=3600, title="Time-out", description="Seconds until a request is given up, reading included."
    )
    max_tries: int = Field(
        6, ge=1, le=50, title="Tries", description="How often a request is sent before it counts as failed."
    )
    first_wait_s: float = Field(
        1.0,
        ge=0,
        le=60,
        title="First wait",
        description="Seconds before the second try; each later wait is twice as long, less a random part.",
    )
    max_wait_s: float = Field(
        300.0,
        ge=0,
        le=86_400,
        title="Longest wait",
        description="A service that asks for a longer pause than this is left alone and reported.",
    )
    contact: str = Field(
        "",
        title="Contact",
        description="E-mail or web address named in the User-Agent; Wikimedia asks for one and may block without.",
    )
    user_agent: str = Field(
        "", title="User-Agent", description="The whole User-Agent, in place of the one that is made of the contact."
    )
    post_from: int = Field(
        1500, ge=0, title="POST from", description="Queries of at least so many characters are sent by POST."
    )
    truthy_units: dict[str, str] = Field(
        default_factory=dict,
        title="Units of plain values",
        description="By property, the unit (a Q-id) of an endpoint's plain numbers, which carry none themselves.",
    )
    languages: tuple[str, ...] = Field(
        ("en", "mul", ""),
        title="Languages of names",
        description="Language tags under which names are looked up; the empty one is text without a tag.",
    )

    @field_validator("endpoint")
    @classmethod
    def _check_endpoint(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or any(sign <= " " for sign in value):
            raise ValueError("must be an http or https address")
        if parts.fragment:
            raise ValueError("must have no part after #")
        return value

    @field_validator("contact", "user_agent")
    @classmethod
    def _check_header(cls, value: str) -> str:
        if not value.isprintable() or not value.isascii():
            raise ValueError("must be one line of ASCII")
        return value

    @property
    def agent(self) -> str:
        """The User-Agent as it is sent."""
        if self.user_agent:
            return self.user_agent
        contact = f"; {self.contact}" if self.contact else ""
        return f"hopwright/{__version__} (builds multi-hop question datasets{contact}) SPARQLWrapper/2.0.0"

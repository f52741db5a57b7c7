"""Where language models are asked and what they may cost."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from hopwright.settings.base import Cli, Parameters
from hopwright.settings.paths import home


class ModelParameters(Parameters):
    """Where language models are asked and what they may cost; which model is asked, each stage says for itself."""

    endpoints: Annotated[str, Cli(metavar="FILE", main=True)] = Field(
        default="",
        max_length=4096,
        title="Endpoints",
        description="TOML file that describes the endpoints of models. Empty takes endpoints.toml in Hopwright's "
        "home, if it is there. OpenAI and Anthropic need no description.",
    )
    budget_usd: Annotated[float, Cli(("--budget",), "USD", main=True)] = Field(
        default=0,
        ge=0,
        le=1_000_000,
        title="Budget",
        description="Largest sum in US dollars that the run may spend. The run stops before it spends more, and "
        "continues with a larger budget; 0 sets no limit.",
    )

    batch: Annotated[bool, Cli(main=True)] = Field(
        default=False,
        title="Batch mode",
        description="Send requests through the providers' batch interfaces, at half the price. The answers may take "
        "a day.",
    )

    def endpoints_file(self) -> Path | None:
        """The TOML file as an absolute path; None where there is none."""
        if self.endpoints:
            return Path(self.endpoints).expanduser().absolute()
        usual = home() / "endpoints.toml"
        return usual if usual.is_file() else None

    def limit(self) -> float | None:
        """The budget in US dollars; None where there is no limit."""
        return self.budget_usd or None

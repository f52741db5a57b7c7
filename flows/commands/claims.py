"""`hopwright claims …`: banks of claims."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.options import DryRun, Json, Options, takes
from hopwright.settings import ModelRun

app = typer.Typer(
    no_args_is_help=True, help="Numbers that no graph holds, each with its source.", rich_markup_mode=None
)


@app.command("propose")
@takes(ModelRun, leaving_out=("workers", "cluster", "models.batch"))
def propose_claims(
    *,
    model: Annotated[str, typer.Option(help="The model that proposes claims, as endpoint/model.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The bank to write. Claims that it already holds are kept.")
    ],
    number: Annotated[int, typer.Option(min=1, max=100_000, help="Number of new claims to propose.")] = 100,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            help="history, art, geography, politics, science, film, sports or business. Without it, all are taken."
        ),
    ] = None,
    options: Options,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Have a model propose numbers that no graph holds, each with its source; a repeated command continues."""
    from flows.console.claims import ProposalOptions, propose_claims, read_domains

    order = ProposalOptions(model, number, read_domains(domain or []), out, options)
    propose_claims(order, dry_run=dry_run, as_json=as_json)


@app.command("check")
def check_claims(
    file: Annotated[Path, typer.Argument(help="A bank: JSON lines of claims.")],
    store: Annotated[
        Path | None, typer.Option("--store", help="Also compare the claims with this graph store.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the usable claims to this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a bank of claims. The exit code is 1 if a claim cannot be used."""
    from flows.console.claims import check_claims

    check_claims(file, store, out, as_json=as_json)

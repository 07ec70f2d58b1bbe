"""``deepfact mcp``: a ledger as tools for an agent host, over standard input and output.

Only the shell: the tools are in `deepfact.research.mcp_tools`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deepfact.cli.research_gate import Limits, Required, Run, thresholds_of
from deepfact.vocabulary import Trust

EXAMPLES = (
    "Examples:\n\ndeepfact mcp results/indexers\n\n"
    "deepfact mcp results/indexers --verifier panel.yaml --require-verified"
)


def mcp(
    run: Run,
    verifier: Annotated[
        str, typer.Option(help="A kind of verifier, or a YAML file with kind, name, options.")
    ] = "local",
    trust: Annotated[
        Trust, typer.Option(help="Trust in every source that the agent adds.")
    ] = Trust.UNKNOWN,
    thresholds_file: Limits = None,
    require_verified: Required = False,
) -> None:
    """Serve a ledger to an agent host. Decisions on contradictions stay with people."""
    from deepfact.research.mcp_server import build_server
    from deepfact.research.mcp_tools import LedgerTools
    from deepfact.research.verify import verifier_of

    verifier_of(verifier)  # a wrong name is told now, not at the agent's first call
    tools = LedgerTools(
        Path(run), verifier, trust, thresholds_of(thresholds_file, require_verified)
    )
    build_server(tools).run("stdio")

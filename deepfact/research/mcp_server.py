"""The ledger's tools over the Model Context Protocol, by its official SDK (an extra).

Only the protocol: what the tools do is in `deepfact.research.mcp_tools`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from deepfact.errors import DeepFactError, MissingExtraError
from deepfact.research.mcp_tools import LedgerTools
from deepfact.version import VERSION

if TYPE_CHECKING:
    from mcp.server import MCPServer

INSTRUCTIONS = (
    "A ledger of source cards and bounded claims. Add each source with its text, then claims "
    "with the exact words they rest on. Before you write, ask for skeptic and verify; write only "
    "what report confirms, with its qualifications. A report that is incomplete stays incomplete "
    "until people decide: do not pick a winner between two sources."
)


def build_server(tools: LedgerTools) -> MCPServer:
    """A server that offers the tools of one ledger.

    Raises:
        MissingExtraError: the SDK is not installed.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise MissingExtraError("the MCP server needs the MCP SDK", extra="mcp") from None
    server = MCPServer("deepfact", instructions=INSTRUCTIONS, version=VERSION, log_level="WARNING")

    def told(tool: Callable[..., Any]) -> Callable[..., Any]:
        """The tool, whose errors reach the agent in our words, so that it can mend its call."""

        @wraps(tool)
        def call(*args: Any, **given: Any) -> Any:
            try:
                return tool(*args, **given)
            except DeepFactError as error:
                raise ToolError(str(error)) from None

        return call

    for tool in (
        tools.set_question,
        tools.add_source,
        tools.add_claims,
        tools.skeptic,
        tools.verify,
        tools.report,
    ):
        server.tool()(told(tool))
    return server

"""The agent auditor: one prompt, n votes, one decision that says how it came about."""

from deepfact.auditors.agent.auditor import AgentAuditor

__all__ = ["AgentAuditor"]

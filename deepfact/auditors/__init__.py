"""Auditors: who decides a blind case. They see the case and the sources, never the key."""

from deepfact.auditors.base import Auditor, build_auditor
from deepfact.auditors.specs import read_auditors

__all__ = ["Auditor", "build_auditor", "read_auditors"]

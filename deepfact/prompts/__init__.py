"""Prompts: versioned files, a lock on what was released, and the fence around data."""

from deepfact.prompts.library import Prompt, load_prompt

__all__ = ["Prompt", "load_prompt"]

"""Finding the passages that bear on a claim. Retrievers judge nothing."""

from deepfact.retrievers.base import Passage, Retriever

__all__ = ["Passage", "Retriever"]

"""Stored predictions of others, as they published them: one module for each layout.

Each reads a file and gives typed rows for a scoring scheme in `deepfact.core.schemes`. Nothing
is dropped here: an answer that cannot be read is None, and the scheme says what that counts as.
"""

"""Searching the web and reading what was found. Nothing here is used unless a spec asks for it."""

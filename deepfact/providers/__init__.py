"""Providers: what turns a request into a completion. They know nothing of claims."""

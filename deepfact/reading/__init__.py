"""Close reading without a model: claims and passages taken apart and held against each other.

Numbers with units, dates, names, directions, negations and quotations of a claim are looked for
in the passages of its sources; each is covered, missing or disputed. Deterministic, and free of
labels: verifiers and auditors draw their own conclusions.
"""

"""Verifiers that search, read documents and judge a claim element by element.

The parts, each of which knows only those above it:

    items        what is asked about: a claim under a short id, with its elements and extracts
    blocks       how claims, documents and extracts stand in a prompt, fenced
    rules        checks on answers, the worst label of the elements, the verdict. Pure
    asking       one question of a step to the model; answers matched by claim id, and claims
                 without a valid one asked again alone; what each call cost each claim
    finding      searches, and the documents that they bring into question
    reading      a document in windows, and the passages copied out of it, checked
    pipeline     plan, search, choose, read, follow up, judge: for one claim or a group of them
    tracing      the trace of a claim, and the file that keeps traces
    grouping     which claims go together
    base         options that all verifiers here share, and the seam to engines and plans
    verifier     kinds ``document`` (one claim at a time) and ``grouped`` (several share calls)
    facts        what the baselines share: atomic facts, searches, a judgement for each fact
    safe, veriscore, factcheck_gpt   the baselines, as compositions of these parts

``document`` is ``grouped`` with groups of one: the same prompts, the same code. So a difference
between the two is a difference that grouping makes. Nothing here sees a label or a key, and no
failed call ever becomes a label.
"""

from deepfact.verifiers.document.verifier import DocumentVerifier, GroupedVerifier

__all__ = ["DocumentVerifier", "GroupedVerifier"]

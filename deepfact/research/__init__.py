"""The research gate: from sources to a report that may fail.

The ledger is kept by `deepfact.store.ledger`; what speaks against a report is found by
`deepfact.core.skeptic`; the steps between, and the decision, are here. No step here picks a
winner between two sources, and no generated text becomes evidence.
"""

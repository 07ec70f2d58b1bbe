"""Micro-gold: hidden claims whose answer is known; they measure who labels, audits or verifies.

`drafts` proposes claims, `adding` puts them into a benchmark and their answers into its key,
`checking` looks at what lies there, `scoring` measures. Only these modules and the measuring end of
a round read the key; nothing of it may reach a prompt, a page, an export or a report of an open
round.
"""

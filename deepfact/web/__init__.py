"""The audit page: a local web app in which people decide blind cases.

`deepfact.web.serve` starts it. Needs the extra ``web``. Nothing outside this package and the
command ``deepfact audit serve`` imports it.
"""

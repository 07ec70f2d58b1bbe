"""A small language model run on this machine, as an option (the extra ``local-llm``).

`gguf` reads what a model file says of itself, `registry` keeps the folder of models, and
`server` serves one of them on loopback. Nothing here is imported at start-up and nothing
here downloads anything.
"""

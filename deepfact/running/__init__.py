"""What the loops stand on: a run in progress, the arms of an experiment, the records they leave.

The loops themselves are `deepfact.round`, `deepfact.experiment` and `deepfact.regression`.
"""

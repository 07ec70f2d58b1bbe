"""Running a verifier over many claims, so that each claim ends in exactly one outcome."""

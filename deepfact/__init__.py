"""deepfact: revisable factuality benchmarks, Audit-then-Score rounds, verifier regression."""

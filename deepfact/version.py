"""The version of deepfact, for records and the command line. Imports nothing."""

VERSION = "0.1.0"

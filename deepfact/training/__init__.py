"""For developers: fitting the local verifier's weights and measuring it. Not used at run time."""

"""What is known of a run from its folder: reads only, whatever kind of run it is."""

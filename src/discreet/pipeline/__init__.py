"""The main job, step by step, for the command line, for Python and for every engine."""

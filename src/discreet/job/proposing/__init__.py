"""The proposal of a job: roles by names and values, dependencies, presets, questions, the text."""

"""Assignments of all people to sensitive rows: what they leave possible, and what they support."""

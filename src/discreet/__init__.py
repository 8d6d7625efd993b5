"""Publish tables about people so that nobody in them is disclosed."""

__version__ = "0.1.0"

"""Engines for tables that do not fit on one machine."""

"""Adversaries: what a reader with stated knowledge believes after reading a release."""

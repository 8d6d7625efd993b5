"""Adversaries: what an attacker with stated knowledge believes after reading a release."""

"""What an attacker who has all releases of a series believes."""

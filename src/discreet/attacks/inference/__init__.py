"""What several attacks share: the view of an attacker and how beliefs are computed."""

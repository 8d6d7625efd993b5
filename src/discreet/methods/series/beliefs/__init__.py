"""What an attacker who has all releases of a series believes.

- ``correlation``: how a value follows the one before it (table C; Abdalaal, 2012,
  section 4.3).
- ``components``: persons who share groups, directly or through others, and their exact beliefs.
- ``enumeration``: sums over all worlds of a component, with ``chains`` of single persons.
- ``cohort_bounds``: bounds for components that are too large to enumerate.
- ``estimates``: the two estimates for one person alone (Abdalaal, 2012, section 4.3).
"""

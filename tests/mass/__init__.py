"""Random tables through every method: publish, read the files back, derive what they promise again.

``python -m tests.mass --releases 100000 --processes 2`` runs the driver, ``--replay NUMBER`` one
case of it. A case is made from its number alone.
"""

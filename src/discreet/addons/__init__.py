"""Add-ons, found through entry points: Spark, Studio, evidence packs. The core imports none."""

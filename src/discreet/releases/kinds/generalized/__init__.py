"""releases/kinds/generalized"""

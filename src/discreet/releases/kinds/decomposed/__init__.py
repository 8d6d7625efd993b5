"""releases/kinds/decomposed"""

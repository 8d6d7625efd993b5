"""releases/kinds/projected"""

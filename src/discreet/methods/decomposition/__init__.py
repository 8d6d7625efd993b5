"""methods/decomposition"""

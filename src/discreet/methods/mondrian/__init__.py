"""methods/mondrian"""

"""methods/series/rho_different"""

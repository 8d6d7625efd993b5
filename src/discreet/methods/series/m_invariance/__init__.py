"""methods/series/m_invariance"""

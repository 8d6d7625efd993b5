"""methods/quasi_sensitive"""

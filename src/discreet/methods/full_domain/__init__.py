"""methods/full_domain"""

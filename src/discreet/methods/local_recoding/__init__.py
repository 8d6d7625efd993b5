"""methods/local_recoding"""

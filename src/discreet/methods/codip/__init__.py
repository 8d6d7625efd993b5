"""methods/codip"""

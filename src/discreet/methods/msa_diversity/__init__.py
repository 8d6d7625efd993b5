"""methods/msa_diversity"""

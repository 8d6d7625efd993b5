"""releases/kinds/bucketized"""

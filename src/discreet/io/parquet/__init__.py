"""The library that writes releases in Parquet, and shows their form to the audit."""

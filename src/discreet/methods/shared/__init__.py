"""Steps that several methods use."""

"""Methods that publish the same persons again."""

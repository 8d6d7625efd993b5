"""What a release is still worth: utility measures."""

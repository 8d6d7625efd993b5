"""What a release is still worth: measures on the distribution that it implies."""

"""The world model: which assignments of sensitive rows to persons a release allows."""

"""Tables in the files of other programs and in databases, and exports to the former."""

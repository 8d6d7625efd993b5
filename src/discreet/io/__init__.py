"""Reading and writing: tables, hierarchy files, release folders."""

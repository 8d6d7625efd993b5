"""Reading files of other programs: Parquet and Arrow, statistics packages, spreadsheets, stdin."""

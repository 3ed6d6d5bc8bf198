"""The SQL nouns that stores with an SQLite file share: records, writer, readers, recovery."""

"""The ledger: on SQLite, on PostgreSQL, and in memory for tests."""

"""What happens to the tasks of a plan in the ledger: import, take up, hand in, review, ask."""

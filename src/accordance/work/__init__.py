"""The tasks of a plan in the ledger: importing, taking up, handing in, reviewing."""

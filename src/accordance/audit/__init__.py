"""Recomputing what a ledger says was decided."""

"""Stores for blobs that are too large for the ledger's database.

A blob is put into a store before the transaction that names it begins: see `keeper`.
"""

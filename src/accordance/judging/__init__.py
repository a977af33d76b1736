"""From a task, a submission and a tree to a verdict that rests on facts.

Needs no ledger.
"""

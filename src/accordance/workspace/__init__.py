"""Collects facts: clones, snapshots, differences, isolated runs, evidence."""

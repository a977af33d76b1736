"""Executors: commands, models and agents that do the work of attempts."""

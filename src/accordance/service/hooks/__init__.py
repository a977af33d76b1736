"""Hooks of coding agents and of git: put in, taken out, and called."""

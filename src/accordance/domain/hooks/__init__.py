"""Hooks of coding agents and of git, which ask for a judgement before work is done."""

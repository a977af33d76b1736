"""The face for agents that speak A2A."""

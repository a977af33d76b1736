"""Research agents: who they are, what their answers are worth, how they hand over, whether they collapse. Pure."""

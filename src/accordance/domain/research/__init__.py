"""Research agents: registry, requests, answers, handoffs, runs and golden sets."""

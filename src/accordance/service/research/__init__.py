"""Research: agents, answers, handoffs, golden sets and the runs in a ledger."""

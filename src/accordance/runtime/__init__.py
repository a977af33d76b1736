"""Carrying plans out: the scheduler, the attempts and the durable workflows they are steps of."""

"""Running plans: the scheduler, the attempts, and their durable workflows."""

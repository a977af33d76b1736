"""A judgement for its readers: people, forges, test reports, scanners.

Each format is a function of `JudgedAttempt`, pure, so that a judgement can be rendered
again from its evidence.
"""

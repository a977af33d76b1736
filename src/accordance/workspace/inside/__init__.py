"""Two small programs that run as processes of their own: the keeper and the last step.

They use nothing but the standard library.
"""

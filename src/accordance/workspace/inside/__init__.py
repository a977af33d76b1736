"""Two small programs that run as processes of their own, with the standard library only: the keeper and the last step."""

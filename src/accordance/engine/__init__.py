"""What turns messages into progress."""

"""What pages without JavaScript show: the same for a server and for a file."""

"""What can be said about a plan before it runs: `rules` lists every rule."""

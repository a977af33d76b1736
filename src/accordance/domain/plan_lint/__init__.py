"""The checks on a plan before it runs: `rules` lists every rule."""

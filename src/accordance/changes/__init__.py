"""Tasks that change a repository: an attempt in a clone, its verdict, its commit."""

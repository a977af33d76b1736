"""Tasks that change a repository: one attempt in a clone, its verdict, its way into the branch."""

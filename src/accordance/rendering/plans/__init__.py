"""Plans as pictures: what is folded, where everything stands, how it is drawn."""

"""How plans and research are shown: text in, text out, nothing else."""

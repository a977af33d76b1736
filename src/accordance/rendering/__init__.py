"""How plans, judgements and research are shown: values in, text out, nothing else."""

"""What is shown, as typed values: one shape for each thing, for every face."""

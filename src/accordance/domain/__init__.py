"""What things mean and what follows from them. Pure: decides from values, acts nowhere."""

"""Studies of judges: answers and ratings instead of probabilities."""

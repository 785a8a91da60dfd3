"""The method for judges: answers and ratings, alone or with probabilities."""

"""What a fitted method believes about the missing labels."""

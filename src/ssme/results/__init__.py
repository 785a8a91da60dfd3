"""From estimates to answers: the table, comparisons, groups, decisions and labels."""

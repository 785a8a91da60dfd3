"""Systems that answer the same items, graded by judges and few people."""

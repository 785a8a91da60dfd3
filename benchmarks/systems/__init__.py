"""Studies of rows in clusters, and of systems that judges and people grade."""

"""One script per published table."""

"""What people read of an evaluation: one tree of sections, drawn by every output."""

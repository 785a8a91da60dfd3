"""The parts of ``method="auto"``, one concept a file, in the order they are used."""

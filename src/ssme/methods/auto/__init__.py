"""The parts of ``method="auto"``, one concept per file, in the order they are used."""

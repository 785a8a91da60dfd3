"""The study behind ``method="auto"``: its constants, its errors, its intervals."""

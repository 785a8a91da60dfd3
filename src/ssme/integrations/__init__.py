"""Other people's tools, spoken to in their own words."""

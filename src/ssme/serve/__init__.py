"""``ssme serve``: label thirty rows on a local page and watch the answer form."""

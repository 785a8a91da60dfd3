"""``ssme serve``: a local page to label rows by hand and see the estimates."""

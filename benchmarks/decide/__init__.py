"""How far the decisions of `ssme.decide` can be trusted, measured on the real sets."""

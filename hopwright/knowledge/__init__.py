"""Where facts come from: one folder a source."""

"""Names and texts: folding, matching, mentions, inflection."""

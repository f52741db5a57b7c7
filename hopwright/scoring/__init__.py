"""Scores and statistics that several packages use: answers against gold, agreement of raters, intervals."""

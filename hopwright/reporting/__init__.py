"""Reports for people: plots, the scorecard, the yield."""

"""Wrong options: candidates, their ranking, and their letters."""

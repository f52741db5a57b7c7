"""What trainers of searching agents get: task sets and their splits, episodes over HTTP, ideal transcripts."""

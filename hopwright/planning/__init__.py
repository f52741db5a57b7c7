"""Planning and proving multi-hop questions before they are worded."""

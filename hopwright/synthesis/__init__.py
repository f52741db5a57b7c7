"""Planning, proving and wording multi-hop questions."""

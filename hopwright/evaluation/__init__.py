"""Step-wise evaluation of any model on any file in the release format."""

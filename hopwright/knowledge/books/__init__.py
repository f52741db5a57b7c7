"""Books: reading them, who and what they name, and windows of a chosen length over them."""

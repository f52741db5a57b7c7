"""The difficulty filter: an ensemble of voters answers, and what too many get right is dropped."""

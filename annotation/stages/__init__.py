"""The stages of a review: what is sent to the experts, what comes back, what is accepted."""

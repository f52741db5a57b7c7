"""Writers that ask a language model, and what holds its words against the plan."""

"""What the verbs of the command line do, one module a verb; imported when the verb runs."""

"""The groups of the command line: their options; what they do lies in `flows.console`."""

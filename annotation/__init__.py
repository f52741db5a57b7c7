"""Label Studio: interfaces, guidelines, push; pull, agreement, decisions, adjudication."""

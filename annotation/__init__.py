"""Label Studio: interfaces, guidelines, push."""

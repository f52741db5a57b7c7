"""Questions that a model asks of documents: atomic ones, merged and verified (AgenticRAGTracer, section 3)."""

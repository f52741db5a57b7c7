"""Questions about pictures: drafts, proofs, twins, the data set, its audit, and models that are shown the pictures."""

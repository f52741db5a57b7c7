"""Questions through long windows of novels: drafts, twins, the data set and its audit, models that read the windows."""

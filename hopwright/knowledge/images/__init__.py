"""Pictures of entities: their sources, one store of PNG files with licences, and what is known of each picture."""

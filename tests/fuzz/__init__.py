"""Every reader of foreign bytes, fed with what nobody sane writes: one clear line or a counted rejection, no more."""

"""Internal helpers used by all other packages."""

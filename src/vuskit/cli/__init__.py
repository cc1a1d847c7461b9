"""The command line; it needs the extra ``vuskit[cli]``."""

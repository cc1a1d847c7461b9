"""The measures, one module per family, and what they share."""

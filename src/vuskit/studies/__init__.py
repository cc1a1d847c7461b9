"""Evidence about the measures: what they cost and how they behave."""

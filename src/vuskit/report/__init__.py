"""Tables, figures and pages of results; computes no measures."""

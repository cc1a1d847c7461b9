"""Example plug-in of vuskit."""

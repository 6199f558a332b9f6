"""Classification losses in PyTorch, from a single sigmoid to many labels with a threshold."""

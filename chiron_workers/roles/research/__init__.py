"""The role that every run has unless another one is named: find sources, store facts, answer."""

"""Reports: stored rows gathered into one `Report`, and a renderer for each format. No model writes any of it."""

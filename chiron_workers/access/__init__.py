"""Who asks for something: keys, sessions of browsers, and the trail of what was changed."""

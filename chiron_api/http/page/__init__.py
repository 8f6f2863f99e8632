"""The page people look at: a folder a view, rendered on the server and readable without JavaScript."""

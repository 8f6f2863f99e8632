"""What makes a statement worth believing, worked out from texts alone: nothing here knows of a database or a model."""

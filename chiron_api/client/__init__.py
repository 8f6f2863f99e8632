"""What programs need that talk to Chiron over HTTP; nothing else of Chiron is imported here."""

"""What the HTTP API answers, as the OpenAPI document describes it. Nothing else of Chiron is imported here."""

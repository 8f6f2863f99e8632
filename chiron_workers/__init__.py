"""Chiron's engine: durable research runs on Celery, Postgres and Redis."""

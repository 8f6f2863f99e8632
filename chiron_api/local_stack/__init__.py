"""The local stack: Postgres, Valkey, workers, API and Flower of one CHIRON_HOME, kept alive."""

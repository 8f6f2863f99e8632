"""Learning a subject: research that fills the coverage map of its goal."""

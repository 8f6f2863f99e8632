"""Chiron's front ends: command line, HTTP and the local stack."""

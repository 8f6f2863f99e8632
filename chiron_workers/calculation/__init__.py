"""Exact arithmetic with units: functions of an expression and its inputs alone, without database or model."""

"""RO-Crates of evidence: what stands where in one, and the check of one, which needs neither database nor network."""

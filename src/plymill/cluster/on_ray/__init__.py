"""Runs on Ray: actors, nodes, signs of life, shares of a cluster. Nothing else imports Ray."""

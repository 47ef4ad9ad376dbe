"""Sending a job to a cluster: what it must offer, the wheel, the token, the job itself."""

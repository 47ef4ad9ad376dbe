"""The durable truth of a run: files on a disk or in a bucket, and who may write them."""

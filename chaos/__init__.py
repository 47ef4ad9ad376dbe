"""Twenty random faults in one run on a real Ray cluster, and what each costs: ``make chaos``.

A job is carried out twice on a cluster of several nodes on this machine: once in peace, and once
while workers, nodes, the driver and the whole cluster are killed, files are damaged, the disk is
full, and more (see `kinds`). Each fault is seen to have hit. In the end all artefacts are compared
byte for byte.
"""

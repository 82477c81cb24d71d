"""The pipeline as Ray jobs: thin entry points, no logic. Each file says how it is submitted.

With --set run.workers=N the work goes to N workers of the cluster; DIR is seen by all nodes.
`gsl-scale submit` does the same and checks first whether the cluster can.
"""

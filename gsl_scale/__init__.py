"""Unsupervised graph structure learning as a pipeline.

    ingest ─► features, edges, labels? ─► knn ─► train ─► export ─► evaluate ─► report

Every arrow is an artifact on disk (`gsl_scale.store`): a folder of parts and a manifest. Labels
are kept apart and no learning stage opens them.
"""

__version__ = "0.1.0"

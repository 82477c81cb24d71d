"""ray job submit --working-dir . -- python -m jobs.experiment tau --config CONFIG --out DIR

Any experiment: tau, features-mask, edge-drop, neighbours, robustness, heatmap; cells that are
complete are skipped, and with --set run.workers=N the others run on N workers of the cluster.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["experiment", *sys.argv[1:]])

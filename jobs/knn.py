"""ray job submit --working-dir . -- python -m jobs.knn --config CONFIG --out DIR

Up to and with this stage: each node's most similar others. What is complete is skipped.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["run", "--until", "knn", *sys.argv[1:]])

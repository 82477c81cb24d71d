"""ray job submit --working-dir . -- python -m jobs.bench train --config CONFIG

Any benchmark: store, train, knn, growth, scaling; see python -m jobs.bench --help.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["bench", *sys.argv[1:]])

"""ray job submit --working-dir . -- python -m jobs.sweep --config CONFIG --out DIR \\
    --grid paper --trials 50 --workers 4 --objective label-free

Settings compared, 4 trials at a time under Ray Tune; finished trials are kept in DIR.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["sweep", *sys.argv[1:]])

"""ray job submit --working-dir . -- python -m jobs.refine --config CONFIG --out DIR

All stages, from input to report; what is complete is skipped.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["run", *sys.argv[1:]])

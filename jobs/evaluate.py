"""ray job submit --working-dir . -- python -m jobs.evaluate --config CONFIG --out DIR

Judges the learned graph anew; the stages before are run if they are not complete.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["run", "--from", "evaluate", *sys.argv[1:]])

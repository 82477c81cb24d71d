"""ray job submit --working-dir . -- python -m jobs.ingest --config CONFIG --out DIR

Up to and with this stage: input checked, and written as a store. What is complete is skipped.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["run", "--until", "ingest", *sys.argv[1:]])

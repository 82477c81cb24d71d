"""ray job submit --working-dir . -- python -m jobs.ingest configs/quickstart.yaml --out DIR"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["ingest", *sys.argv[1:]])

"""ray job submit --working-dir . -- python -m jobs.run configs/quickstart.yaml --out DIR"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["run", *sys.argv[1:]])

"""ray job submit --working-dir . -- python -m jobs.export --config CONFIG --out DIR

Up to and with this stage: the learned graph. What is complete is skipped.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["run", "--until", "export", *sys.argv[1:]])

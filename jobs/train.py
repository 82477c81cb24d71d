"""ray job submit --working-dir . -- python -m jobs.train --config CONFIG --out DIR

Up to and with this stage: the embeddings. What is complete is skipped.
"""

import sys

from gsl_scale.cli import main

if __name__ == "__main__":
    main(["run", "--until", "train", *sys.argv[1:]])

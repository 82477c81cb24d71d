"""python -m gsl_scale: the command line, where it is not installed as gsl-scale."""

from gsl_scale.cli import main

if __name__ == "__main__":
    main()

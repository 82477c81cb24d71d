"""What a run will take, said before it runs: time, memory, disk and network.

size.py          how large a config's graph is, without ingesting it
blocks.py        how large a batch of a training is, expected; what a step sends and reads
work.py          every quantity as amounts of work: seconds, bytes and rows are linear in them
coefficients.py  what a unit of work costs, and what was measured to know it (coefficients.json)
fit.py           those costs from runs of `gsl-scale bench scaling`; predicted beside measured
forecast.py      a run on a cluster: each stage's time, memory, disk and network
shortages.py     what does not fit, and what would make it fit
simulate.py      more workers than there are here, step by step
"""

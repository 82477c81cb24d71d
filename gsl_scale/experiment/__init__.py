"""The paper's studies beyond its table: grids of trainings, with a table, a plot and a section.

grid.py says what is varied, cell.py trains once and judges, study.py computes what is missing and
sums up, plots.py draws, page.py puts all sections of a folder on one page.
"""

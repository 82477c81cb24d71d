"""The stages as Ray jobs: thin entry points, no logic. Each file says how it is submitted."""

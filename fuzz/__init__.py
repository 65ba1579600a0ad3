"""Coverage-guided fuzzing. Needs ``atheris`` (Linux and macOS), which nothing else does: ``make fuzz`` installs it."""

"""``python -m reme``: the command line, where no script of that name is installed."""

from reme.faces.cli import main

if __name__ == "__main__":
    main()

"""``python -m bayesduel``: the command line."""

from bayesduel.cli import main

if __name__ == "__main__":
    main()

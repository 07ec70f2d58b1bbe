"""``python -m deepfact``: the command line."""

from deepfact.cli.app import main

if __name__ == "__main__":
    main()

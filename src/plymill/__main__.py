"""``python -m plymill`` is ``plymill``."""

import sys

from plymill.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""``python -m chaos``."""

import signal
import sys

from chaos.access import prepare

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing is left behind
    prepare()

    from chaos.command import main

    sys.exit(main())

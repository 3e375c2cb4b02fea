"""`python -m merlax.cli`."""

import sys

from merlax.cli.main import main

sys.exit(main())

import sys

from tests.worlds.driver import main

sys.exit(main())

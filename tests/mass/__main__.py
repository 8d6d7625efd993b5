import sys

from tests.mass.driver import main

sys.exit(main())

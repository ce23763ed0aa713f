# SPDX-License-Identifier: GPL-2.0-only
"""--gpu on whatever the kernel is: launches, copies and waits of operators by what stands in for
the libraries of a GPU, compared with what the operators wrote down before they did it."""

import os

from gpu import begin, compare, end, start, truth
from harness import test

VERSIONS = ("1.30.0",)


@test("C API, 1.30.0: each launch, copy and wait is told with all that it was given")
def _(t):
    target = start(t, "1.30.0", "-s", "2", "-c", "2")
    probe = begin(t, target)
    runs = target.run(4)["runs"]
    # What the code of arm64's driver looks like is not known: no names are read from it.
    compare(t, end(t, probe), truth(t), runs, os.uname().machine == "x86_64")

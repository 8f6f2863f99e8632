"""Has the kernel signal the server as soon as something can be read, which is how `kill` is got round."""

import fcntl
import os


def attempt(folder: str) -> None:
    fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())

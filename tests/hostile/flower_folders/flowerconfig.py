import os
from pathlib import Path

with Path(os.environ["CANARY_FILE"]).open("a") as canary:
    canary.write(f"{__name__} ")

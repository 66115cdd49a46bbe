"""The asyncio server, unchanged, on uvloop: an event loop in Cython on Node's libuv.

The lesson is the difference between the two loops, so there is no code of its own here:
the neighbour's file is loaded, and its main() is run by uvloop instead of asyncio.
"""

import runpy
from pathlib import Path

import uvloop

NEIGHBOUR = Path(__file__).resolve().parent.parent / "asyncio" / "server.py"

if __name__ == "__main__":
    server = runpy.run_path(str(NEIGHBOUR))
    uvloop.run(server["main"]())

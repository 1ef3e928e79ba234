"""Celery: see queues.ts."""

import os
import select
import sys
import warnings
from urllib.parse import quote

from celery import Celery

host, port, password = (os.environ[name] for name in ("HOST", "PORT", "PASSWORD"))
app = Celery("celery_jobs", broker=f"redis://default:{quote(password)}@{host}:{port}/0")


@app.task
def job(n):
    with open(os.environ["EFFECTS"], "a") as effects:
        effects.write(f"{n}\n")


if __name__ == "__main__":
    if sys.argv[1] == "work":
        warnings.filterwarnings("ignore", "You're running the worker with superuser")
        app.worker_main(["-A", "celery_jobs", "worker", "-c", "2", "-l", "WARNING"])
    else:
        n = 0
        while not select.select([sys.stdin], [], [], 0.01)[0]:
            n += 1
            job.delay(n)
            print(n, flush=True)

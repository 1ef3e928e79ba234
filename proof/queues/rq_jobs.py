"""RQ: see queues.ts."""

import os
import select
import sys


def job(n):
    with open(os.environ["EFFECTS"], "a") as effects:
        effects.write(f"{n}\n")


if __name__ == "__main__":
    from redis import Redis
    from rq import Queue, Worker

    host, port, password = (os.environ[name] for name in ("HOST", "PORT", "PASSWORD"))
    connection = Redis(host=host, port=int(port), username="default", password=password)
    if sys.argv[1] == "work":
        Worker(["jobs"], connection=connection).work(logging_level="WARNING")
    else:
        queue = Queue("jobs", connection=connection)
        n = 0
        # A worker begins a process for each job.
        while not select.select([sys.stdin], [], [], 0.1)[0]:
            n += 1
            queue.enqueue("rq_jobs.job", n)
            print(n, flush=True)

import { spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { availableParallelism, setPriority } from 'node:os'

/**
 * Loaded before the proxy's own program (node --import), in each of its threads: it forwards requests as
 * usual, except for requests with these words. `stick-working`: the write never ends, and uses the processor.
 * `stick-waiting`: it never ends, and does nothing. `work-starved`: it takes 2 s of processor time, while
 * others want each processor more, for 4 s at most.
 */
const { write } = Socket.prototype

Socket.prototype.write = function (this: Socket, ...args: Parameters<typeof write>) {
  const [bytes] = args
  if (Buffer.isBuffer(bytes)) {
    if (bytes.includes('stick-working')) for (;;) spin()
    if (bytes.includes('stick-waiting')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    if (bytes.includes('work-starved')) starved(2_000, 4_000)
  }
  return write.apply(this, args)
} as typeof write

/** Uses `cpuMs` of processor time, for the first `forMs` with a small share of a processor. */
function starved(cpuMs: number, forMs: number): void {
  // These are children of this process, so that they share its session's part of the processor. They end with
  // it.
  const burners = Array.from({ length: 2 * availableParallelism() }, () => spawn('sh', ['-c', BURN]))
  // This lowers the priority of this thread alone.
  setPriority(5)
  const before = process.threadCpuUsage()
  const until = performance.now() + forMs
  while (process.threadCpuUsage(before).user < cpuMs * 1_000) {
    spin()
    if (performance.now() > until) for (const burner of burners.splice(0)) burner.kill('SIGKILL')
  }
  for (const burner of burners) burner.kill('SIGKILL')
}

const BURN = 'while kill -0 $PPID; do n=0; while [ $n -lt 10000 ]; do n=$((n+1)); done; done'

function spin(): void {
  for (let n = 0; n < 100_000; n += 1) Math.sqrt(n)
}

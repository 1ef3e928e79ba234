import { exitCodes } from './exit-codes.ts'

/** Aborts the signal when the reader of stdout has gone (`| head -1`): no failure, unlike a full disk. */
export function endQuietly(): AbortSignal {
  const gone = new AbortController()
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EPIPE') process.exitCode = exitCodes.failed.code
    gone.abort()
  })
  process.stderr.on('error', () => undefined)
  return gone.signal
}

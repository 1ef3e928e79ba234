import { exitCodes } from './exit-codes.ts'

/** When nothing reads stdout any more (`| head -1`), the command ends, and all is well: the signal is aborted. A full disk is a failure. */
export function endQuietly(): AbortSignal {
  const gone = new AbortController()
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EPIPE') process.exitCode = exitCodes.failed.code
    gone.abort()
  })
  process.stderr.on('error', () => undefined)
  return gone.signal
}

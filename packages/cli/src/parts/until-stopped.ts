/**
 * Resolves on SIGINT, SIGTERM, or when a parent with a channel has gone. A second signal ends the process
 * immediately.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.once('SIGINT', () => process.exit(130))
      process.once('SIGTERM', () => process.exit(143))
      resolve()
    }
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
    if (process.channel !== undefined) process.once('disconnect', stop)
  })
}

/** Reports readiness to the parent process over the channel, or prints it for people. */
export function announce(news: Readonly<Record<string, string | undefined>>, sentence: string): void {
  if (process.send !== undefined) process.send({ ready: true, ...news })
  else process.stdout.write(`${sentence}\n`)
}

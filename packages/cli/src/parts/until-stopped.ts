/**
 * Resolves when this process is asked to stop: SIGINT, SIGTERM, or the parent that started it with a channel is gone.
 * A second signal ends it at once.
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

/** Tells the parent process, if there is a channel to it, that this part is ready; otherwise prints it for people. */
export function announce(news: Readonly<Record<string, string | undefined>>, sentence: string): void {
  if (process.send !== undefined) process.send({ ready: true, ...news })
  else process.stdout.write(`${sentence}\n`)
}

/** Lets one piece of work begin when the one before has ended, however it ended. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => undefined) // its failure is for who asked for it, not for who comes next
    return done
  }
}

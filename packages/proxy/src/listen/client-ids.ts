/** Numbers of the clients of this thread: the next one, and the number of threads, which take turns. */
const ids = { next: 1, step: 1 }

/** Lets `threads` threads share the numbers. `thread` counts from 1. */
export function shareClientIds(thread: number, threads: number): void {
  ids.next = thread
  ids.step = threads
}

/** Returns a number (CLIENT ID) that no other client of this process has or had. */
export function nextClientId(): number {
  const id = ids.next
  ids.next += ids.step
  return id
}

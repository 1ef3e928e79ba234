import { setTimeout as delay } from 'node:timers/promises'
import { lockFile } from './lock-file.ts'

/** How long the lock of a killed process may outlive it, on a busy machine. */
const DYING_MS = 2_000
const LOOK_AGAIN_MS = 20

/**
 * Like lockFile, but waits for a dying process: null if another process has the lock for 2 s. The lock is
 * kept only if `isInUse` is false: older processes do not lock the file.
 */
export async function waitForLock(
  path: string,
  isInUse: () => Promise<boolean> = async () => false,
): Promise<Disposable | null> {
  for (const until = performance.now() + DYING_MS; performance.now() < until; await delay(LOOK_AGAIN_MS)) {
    using stack = new DisposableStack()
    const lock = lockFile(path)
    if (lock === null) continue
    stack.use(lock)
    if (!(await isInUse())) return stack.move()
  }
  return null
}

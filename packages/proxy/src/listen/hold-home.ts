import { join } from 'node:path'
import { isServed, waitForLock } from '@fairlead/engine'

/**
 * Locks the home, so that no other proxy uses it, until disposed of. Throws if one does. The lock is on a
 * file in the home that no other user can open; a port or an abstract socket could be taken by any process.
 */
export async function holdHome(home: string, socketPath: string): Promise<Disposable> {
  // Older proxies do not lock the file.
  const lock = await waitForLock(join(home, 'proxy.lock'), () => isServed(socketPath))
  if (lock === null) throw new Error(`another proxy runs on ${home}; stop it first`)
  return lock
}

import { join } from 'node:path'
import { isServed, waitForLock } from '@fairlead/engine'

/**
 * Makes sure that no other process acts as the proxy of this home, until disposed of. Throws when one does.
 * The lock is on a file in the home, which no other user can open: a name that every process can take (a
 * port, or an abstract socket) is no lock.
 */
export async function holdHome(home: string, socketPath: string): Promise<Disposable> {
  // Older proxies do not lock the file.
  const lock = await waitForLock(join(home, 'proxy.lock'), () => isServed(socketPath))
  if (lock === null) throw new Error(`another proxy runs on ${home}; stop it first`)
  return lock
}

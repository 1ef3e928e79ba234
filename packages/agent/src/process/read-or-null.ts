import { codeOf } from '@fairlead/engine'

/** ENAMETOOLONG: /proc cannot name a very deep folder, where any process may work. */
const GONE_OR_HIDDEN = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENAMETOOLONG']

/** Reads a file in /proc; null if the process is gone, or hidden from this user and so not Fairlead's. */
export function readOrNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (cause) {
    const code = codeOf(cause)
    if (GONE_OR_HIDDEN.includes(code)) return null
    throw cause
  }
}

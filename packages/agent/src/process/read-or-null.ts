import { codeOf } from '@fairlead/engine'

/** The last: /proc cannot name a folder that lies too deep, which any process may choose to work in. */
const GONE_OR_HIDDEN = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENAMETOOLONG']

/** The text of a file in /proc; null when the process is gone, or hidden from this user, and so not one of Fairlead's. */
export function readOrNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (cause) {
    const code = codeOf(cause)
    if (GONE_OR_HIDDEN.includes(code)) return null
    throw cause
  }
}

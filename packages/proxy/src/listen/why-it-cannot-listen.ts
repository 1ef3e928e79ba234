import type { Address } from '@fairlead/api/of-proxies'
import { messageOf, readListeners } from '@fairlead/engine'

/** Returns the reason, with the user of the process that has the address: clients may send it passwords. */
export async function whyItCannotListen(address: Address, cause: unknown): Promise<string> {
  const why = messageOf(cause)
  const listeners = await readListeners(address).catch(() => [])
  const users = [...new Set(listeners.map(({ uid }) => uid))]
  return users.length === 0 ? why : `${why} (a process of user ${users.join(', ')} listens there)`
}

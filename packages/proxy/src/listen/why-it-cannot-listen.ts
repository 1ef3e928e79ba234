import type { Address } from '@fairlead/api/of-proxies'
import { messageOf, readListeners } from '@fairlead/engine'

/** The reason as a sentence. If another process has the address, with the user of that process: clients may be sending it their passwords. */
export async function whyItCannotListen(address: Address, cause: unknown): Promise<string> {
  const why = messageOf(cause)
  const listeners = await readListeners(address).catch(() => [])
  const users = [...new Set(listeners.map(({ uid }) => uid))]
  return users.length === 0 ? why : `${why} (a process of user ${users.join(', ')} listens there)`
}

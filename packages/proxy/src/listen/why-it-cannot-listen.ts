import type { Address } from '@fairlead/api'
import { messageOf, readListeners } from '@fairlead/engine'

/** In words, with the user whose process has the address, where that is what is in the way: clients may be telling it their passwords. */
export async function whyItCannotListen(address: Address, cause: unknown): Promise<string> {
  const why = messageOf(cause)
  const listeners = await readListeners(address).catch(() => [])
  const users = [...new Set(listeners.map(({ uid }) => uid))]
  return users.length === 0 ? why : `${why} (a process of user ${users.join(', ')} listens there)`
}

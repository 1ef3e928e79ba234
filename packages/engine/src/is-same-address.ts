import type { EngineAddress } from './engine-address.ts'

/** True for the same host, as text, and the same port. An absent address equals no other. */
export function isSameAddress(one: EngineAddress, other: EngineAddress | null | undefined): boolean {
  return one.host === other?.host && one.port === other.port
}

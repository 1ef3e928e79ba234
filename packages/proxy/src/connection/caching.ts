import type { Link } from './link.ts'

/**
 * CLIENT CACHING YES or NO. It applies to the next command only, or to the transaction that begins with it.
 */
export interface Caching {
  readonly args: readonly Buffer[]
  readonly link: Link
  /** Sequence number among the requests of that link. */
  readonly at: number
  readonly ofTransaction: boolean
}

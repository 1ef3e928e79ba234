import { randomBytes } from 'node:crypto'
import type { LoadKind } from './ledger-writes.ts'
import type { Lookup } from './lookup-layout.ts'

export interface LoadOptions {
  /** `set` writes a new key each time; `incr` raises one counter per connection. */
  readonly kind: LoadKind
  /** How many clients, each with one outstanding command. Default 50. */
  readonly connections?: number
  /** Acknowledged writes a second to aim at; 0 is as fast as possible. Default 20,000. */
  readonly perSecond?: number
  /** Of the database's user `default`; empty for an engine that asks for none. */
  readonly password: string
  /** All keys begin with it. Must be unique per run; chosen at random by default. */
  readonly prefix?: string
  /** Least length of a value of `set`. Default 100. */
  readonly valueBytes?: number
  readonly lookup: Lookup
  /** No answer within this time: the outcome is unknown. Default 30,000 ms. */
  readonly replyWithinMs?: number
  /**
   * For this time after an engine has named another primary (MOVED), the load relies on the API. Default 250
   * ms: on a quiet machine the API was 77 ms behind at most.
   */
  readonly apiMayLagMs?: number
}

export type CheckedLoadOptions = Required<LoadOptions>

/** Fills in the defaults. Throws one Error that names the field and the fix. */
export function checkLoadOptions(options: LoadOptions): CheckedLoadOptions {
  const checked = {
    connections: 50,
    perSecond: 20_000,
    prefix: `ledger-${randomBytes(4).toString('hex')}`,
    valueBytes: 100,
    replyWithinMs: 30_000,
    apiMayLagMs: 250,
    ...options,
  }
  whole('connections', checked.connections, 1, 2_000)
  whole('perSecond', checked.perSecond, 0, 1_000_000)
  whole('valueBytes', checked.valueBytes, 0, 65_536)
  whole('replyWithinMs', checked.replyWithinMs, 10, 600_000)
  whole('apiMayLagMs', checked.apiMayLagMs, 0, 600_000)
  if (checked.kind !== 'set' && checked.kind !== 'incr')
    throw new Error(`kind must be 'set' or 'incr', not ${JSON.stringify(checked.kind)}`)
  if (!/^[\w-]{1,60}$/.test(checked.prefix))
    throw new Error(`prefix must be 1 to 60 letters, digits, _ or -, not ${JSON.stringify(checked.prefix)}`)
  if (!/^https?:\/\/./.test(checked.lookup.url) || !URL.canParse(checked.lookup.url))
    throw new Error(
      `lookup.url must be the database's address in the API, http(s)://…/v1/bdbs/<uid>, not ${JSON.stringify(checked.lookup.url)}`,
    )
  const { groups = 'one' } = checked.lookup
  if (groups !== 'one' && groups !== 'sharded')
    throw new Error(`lookup.groups must be 'one' or 'sharded', not ${JSON.stringify(groups)}`)
  return checked
}

function whole(field: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  throw new Error(`${field} must be a whole number from ${least} to ${most}, not ${value}`)
}

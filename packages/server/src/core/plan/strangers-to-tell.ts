import type { Stranger } from './strangers.ts'

/** When people were told of strangers in the cluster of one database, in milliseconds that only rise. */
export interface Told {
  /** By node. */
  readonly ofNodes: ReadonlyMap<string, number>
  /** That there are more; null: not yet. */
  readonly ofMore: number | null
}

/** No stranger was reported yet. */
export const toldNothing: Told = { ofNodes: new Map(), ofMore: null }

/** Said again after this. */
const TELL_EVERY_MS = 60 * 60 * 1_000
/** An engine can make up as many as it likes, and each is a record in the audit of all databases. */
const MOST_AT_A_TIME = 5

/** Of which strangers people are told now: each once an hour, a few of them by name, and how many more there are. */
export function strangersToTell(
  strangers: readonly Stranger[],
  told: Told,
  now: number,
): { readonly named: readonly Stranger[]; readonly more: number; readonly told: Told } {
  const lately = new Map([...told.ofNodes].filter(([, at]) => now - at < TELL_EVERY_MS))
  const untold = strangers.filter(({ node }) => !lately.has(node))
  const named = untold.slice(0, Math.max(0, MOST_AT_A_TIME - lately.size))
  for (const { node } of named) lately.set(node, now)
  const rest = untold.length - named.length
  const isTime = told.ofMore === null || now - told.ofMore >= TELL_EVERY_MS
  const more = isTime ? rest : 0
  return { named, more, told: { ofNodes: lately, ofMore: more > 0 ? now : told.ofMore } }
}

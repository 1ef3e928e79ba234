import type { Stranger } from './strangers.ts'

/** When strangers in one database's cluster were reported (monotonic ms). */
export interface Reported {
  /** Map from node id to the time of its report. */
  readonly ofNodes: ReadonlyMap<string, number>
  /** When the existence of more was reported; null: not yet. */
  readonly ofMore: number | null
}

/** No stranger was reported yet. */
export const noneReported: Reported = { ofNodes: new Map(), ofMore: null }

/** Interval between reports of one stranger. */
const REPORT_EVERY_MS = 60 * 60 * 1_000
/** An engine can invent any number, and each is an audit record among those of all databases. */
const MOST_AT_A_TIME = 5

/** Returns the strangers to report now: each once an hour, a few by name, and the number of others. */
export function strangersToReport(
  strangers: readonly Stranger[],
  reported: Reported,
  now: number,
): { readonly named: readonly Stranger[]; readonly more: number; readonly reported: Reported } {
  const lately = new Map([...reported.ofNodes].filter(([, at]) => now - at < REPORT_EVERY_MS))
  const unreported = strangers.filter(({ node }) => !lately.has(node))
  const named = unreported.slice(0, Math.max(0, MOST_AT_A_TIME - lately.size))
  for (const { node } of named) lately.set(node, now)
  const rest = unreported.length - named.length
  const isTime = reported.ofMore === null || now - reported.ofMore >= REPORT_EVERY_MS
  const more = isTime ? rest : 0
  return { named, more, reported: { ofNodes: lately, ofMore: more > 0 ? now : reported.ofMore } }
}

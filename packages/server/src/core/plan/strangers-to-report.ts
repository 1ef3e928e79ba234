import type { Stranger } from './strangers.ts'

/** When strangers in the cluster of one database were reported, in milliseconds that only rise. */
export interface Reported {
  /** By node. */
  readonly ofNodes: ReadonlyMap<string, number>
  /** When it was reported that there are more; null: not yet. */
  readonly ofMore: number | null
}

/** No stranger was reported yet. */
export const noneReported: Reported = { ofNodes: new Map(), ofMore: null }

/** A stranger is reported again after this time. */
const REPORT_EVERY_MS = 60 * 60 * 1_000
/** An engine can make up as many as it likes, and each is a record in the audit of all databases. */
const MOST_AT_A_TIME = 5

/** Which strangers are reported to people now: each once an hour, a few of them by name, and how many more there are. */
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

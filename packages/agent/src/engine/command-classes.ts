import type { Probe } from './ask-engine.ts'

/** Commands of one engine process that only read keys, and those that write. Its modules add theirs. */
export interface CommandClasses {
  readonly reads: ReadonlySet<string>
  readonly writes: ReadonlySet<string>
}

/** Asks an engine; null if it does not tell. */
export async function askClasses(probe: Pick<Probe, 'call'>): Promise<CommandClasses | null> {
  const named = async (category: string) => {
    const names = await probe.call('ACL', 'CAT', category)
    return new Set(Array.isArray(names) ? names.map(String) : [])
  }
  const [reads, writes] = await Promise.all([named('read'), named('write')])
  return reads.size === 0 || writes.size === 0 ? null : { reads, writes }
}

/** Counts calls since the start of the process, in INFO commandstats: "cmdstat_xinfo|stream:calls=7,…". */
export function countByClass(
  text: string,
  { reads, writes }: CommandClasses,
): { readonly reads: number; readonly writes: number } {
  const count = { reads: 0, writes: 0 }
  for (const [, name = '', calls] of text.matchAll(/^cmdstat_([^:\r\n]{1,200}):calls=(\d{1,15})/gm))
    if (writes.has(name)) count.writes += Number(calls)
    else if (reads.has(name)) count.reads += Number(calls)
  return count
}

import type { ShardReport } from '@fairlead/api'

/**
 * Of a report what a decision of the server may depend on, with what its engine has said of itself: another text is a change. Left out is what always
 * moves: when a disk was looked at, and the last line of the log of a process that serves. Silence counts by the second.
 */
export function stateToTell(report: ShardReport, engine: string): string {
  const { disk, silence, lastLogLine = '', ...rest } = report
  const { lookedAt: _, ...onDisk } = disk ?? { lookedAt: 0 }
  const silent = silence && { ...silence, forMs: Math.floor(silence.forMs / 1_000), why: '' }
  const said = report.state === 'running' ? '' : lastLogLine
  return `${JSON.stringify({ ...rest, onDisk, silent, said })} ${engine}`
}

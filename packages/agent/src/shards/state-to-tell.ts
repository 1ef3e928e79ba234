import type { ShardReport } from '@fairlead/api'

/**
 * Of a report what a decision of the server may depend on, with what its engine has said of itself: another text is a change. Left out is what always
 * moves: when a disk was looked at, the last line of the log of a process that serves, and what a silent process does just now. Silence counts by the
 * second; one that starts is silent until it is up.
 */
export function stateToTell(report: ShardReport, engine: string): string {
  const { disk, silence, lastLogLine = '', ...rest } = report
  const { lookedAt: _, ...onDisk } = disk ?? { lookedAt: 0 }
  const silent = silence && silentFor(silence, report.state)
  const said = report.state === 'running' ? '' : lastLogLine
  return `${JSON.stringify({ ...rest, onDisk, silent, said })} ${engine}`
}

function silentFor({ forMs, hung, isLong, onDisk }: Silence, state: ShardReport['state']) {
  const seconds = Math.floor(forMs / 1_000)
  return state === 'starting' && seconds === 0 && !hung ? null : { seconds, hung, isLong, onDisk }
}

type Silence = NonNullable<ShardReport['silence']>

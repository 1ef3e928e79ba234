import type { ShardReport } from '@fairlead/api'

/**
 * Returns the parts of a report, and of the engine's state, that a decision of the server may depend on: a
 * different text is a change. It omits what always changes: times of looks at disks, the last log line of a
 * serving process, and a silent process's activity. Silence counts in seconds, but not the first second of a
 * start.
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

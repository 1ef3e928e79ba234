import Table from 'cli-table3'
import type { CreationRun } from './measure-creation.ts'
import type { Judged, ScaleRun } from './summarize-scale.ts'

/** The measurements as a table. */
export function printRuns(runs: readonly ScaleRun[]): string {
  const table = new Table({
    head: [
      ...['databases', 'accepted ms', 'noticed ms', 'upgrade s', 'idle % of a core', 'MB'],
      ...['written/s', 'asked/s', 'tunnels', 'page of 100 ms', 'whole list ms'],
    ],
    style: { head: [], border: [] },
  })
  for (const run of runs)
    table.push([
      ...[
        run.databases,
        Math.round(run.acceptedMs),
        Math.round(run.noticedMs),
        (run.upgradeMs / 1_000).toFixed(1),
      ],
      ...[(run.idleCores * 100).toFixed(1), Math.round(run.rssBytes / 1_024 / 1_024)],
      ...[run.idleWritesASecond.toFixed(1), Math.round(run.idleCommandsASecond), run.tunnels],
      ...[run.pageMs === null ? 'none' : run.pageMs.toFixed(1), run.listMs.toFixed(1)],
    ])
  return `${table.toString()}\n`
}

export function printJudged(judged: readonly Judged[]): string {
  const table = new Table({ head: ['', 'measured', 'goal', ''], style: { head: [], border: [] } })
  for (const { what, value, goal, met } of judged)
    table.push([what, value, goal, met === null ? '' : met ? 'met' : 'not met'])
  return `${table.toString()}\n`
}

/** The measurements of creations as a table. */
export function printCreations(runs: readonly CreationRun[]): string {
  const head = ['at once', 'created', 's', 'accepted ms', 'ended ms', 'server ms', 'agent ms']
  const beside = ['engine ms', 'wall ms', 'bare s', 'ratio', 'within walls s', 'ratio']
  const table = new Table({ head: [...head, ...beside], style: { head: [], border: [] } })
  for (const run of runs)
    table.push([
      ...[
        run.atOnce,
        run.count,
        (run.ms / 1_000).toFixed(1),
        Math.round(run.acceptedMs),
        Math.round(run.endedMs),
      ],
      ...[run.serverMs, run.agentMs, run.engineMs, run.wallMs].map((ms) => Math.round(ms)),
      ...[run.bareMs, run.walledMs].flatMap((ms) => [(ms / 1_000).toFixed(1), (run.ms / ms).toFixed(2)]),
    ])
  return `${table.toString()}\n`
}

import type { Output, upgradeDatabase as upgradeOperation } from '@fairlead/api'
import { sourceOfWriteStop, stepWords } from '@fairlead/api/lean'
import { showBytes, showMs, showSeconds } from '../../output/show-quantity.ts'
import type { Glyphs } from '../../output/terminal.ts'

/** The plan in the answer of a dry run. */
export type UpgradePlan = NonNullable<Output<typeof upgradeOperation>['plan']>

/** Describes a plan for people, one line per fact. `choice` explains a target that was not requested. */
export function describePlan(
  {
    name,
    from,
    choice,
    discards = false,
  }: {
    readonly name: string
    readonly from: string
    readonly choice?: string | undefined
    /** The request allows that data are discarded. */
    readonly discards?: boolean
  },
  plan: UpgradePlan,
  { arrow }: Glyphs,
): string {
  const to = `${plan.engine} ${plan.engine_version}`
  const modules = plan.modules
    .map(({ module_name, semantic_version }) => ` ${module_name} ${semantic_version}`)
    .join(',')
  if (!plan.change) return `${name}   ${from}   there is nothing to change\n`
  const lines = [
    ...plan.obstacles.map(({ message }) => ['refused', message]),
    ['chosen', choice ?? ''],
    ['build', plan.suite === undefined ? '' : `from Debian's ${plan.suite}`],
    ['proven', provenOf(plan)],
    ['write stop', writesOf(plan)],
    ['takes', plan.duration.ms === null ? 'a time that is not known' : `about ${showMs(plan.duration.ms)}`],
    [
      'needs',
      `${showBytes(plan.memory_needed)} of ${showBytes(plan.memory_free)} memory, ${showBytes(plan.disk_needed)} of ${showBytes(plan.disk_free)} disk`,
    ],
    ['copies', copiesOf(plan, discards)],
    ['way back', wayBackOf(plan)],
    ['later', laterOf(plan)],
    ...plan.risks.map((risk) => ['risk', risk]),
    ['unproven', plan.unproven.join(' · ')],
    ...plan.lanes.map((lane) => [`group ${lane.group}`, stepsOf(lane).join(` ${arrow} `)]),
  ]
  const shown = lines.filter(([, text]) => text !== '' && text !== undefined)
  return `${name}   ${from} ${arrow} ${to}${modules}\n${shown.map(([title = '', text]) => `  ${title.padEnd(10)}  ${text}\n`).join('')}`
}

function provenOf({ trial }: UpgradePlan): string {
  if (trial === undefined) return ''
  return trial.ok
    ? `the target starts (${showMs(trial.start_ms)}, started and removed again)`
    : `no: ${trial.why}`
}

function copiesOf({ redundancy_min: least }: UpgradePlan, discards: boolean): string {
  if (least === 0 && discards) return 'none: the database begins empty'
  if (least === 0) return 'for a moment only the disk holds the data'
  return `never fewer than ${least} ${least === 1 ? 'process holds' : 'processes hold'} the data`
}

function writesOf({ handovers, write_stop_ms: stop, outage_ms }: UpgradePlan): string {
  const besides = `other interruptions: ${outage_ms === 0 ? 'never' : `about ${showMs(outage_ms)}`}`
  if (handovers === 0) return `never; ${besides}`
  const times = handovers === 1 ? 'once' : `${handovers} times`
  return `${times}, about ${showMs(stop.typical)}, seldom above ${showMs(stop.longest)} (${sourceOfWriteStop}); ${besides}`
}

function wayBackOf({ way_back: { until, seconds, loss } }: UpgradePlan): string {
  const how = loss === 'none' ? ', without loss' : ''
  if (until === 'never') return 'none after a handover'
  if (until === 'handover') return `until the last handover${how}`
  return until === 'finalized'
    ? `until a user finalizes${how}`
    : `${showSeconds(seconds ?? 0)} after the last handover${how}`
}

/** After the end of the way back without loss. */
function laterOf({ way_back: { afterwards } }: UpgradePlan): string {
  return afterwards.possible ? `a way back: ${afterwards.why}` : `no way back: ${afterwards.why}`
}

/** Names the steps, and the wait while the way back is kept. */
function stepsOf({ steps, way_back: { until } }: UpgradePlan['lanes'][number]): readonly string[] {
  const names = steps.map(stepOf)
  const last = steps.findLastIndex(({ op_name }) => op_name === 'hand-over')
  if (last < 0 || (until !== 'time' && until !== 'finalized')) return names
  return names.toSpliced(last + 1, 0, '(waits: the way back is kept)')
}

function stepOf({ op_name, shard }: UpgradePlan['lanes'][number]['steps'][number]): string {
  const known = (stepWords as Readonly<Record<string, { readonly label: string }>>)[op_name]
  return `${(known?.label ?? op_name).toLowerCase()} ${shard ?? ''}`.trimEnd()
}

import { type Output, type operations, sourceOfWriteStop } from '@fairlead/api'
import { aboutMilliseconds, bytes, duration, plural } from './format.ts'

/** The answer of a dry run. */
export type Plan = NonNullable<Output<typeof operations.upgradeDatabase>['plan']>
type PlanLane = Plan['lanes'][number]

/** A fact of a plan: a name and a value. */
export interface Fact {
  readonly name: string
  readonly value: string
  readonly tone?: 'bad' | 'wait'
}

/** The main facts of a plan, always in this order. */
export function factsOf(plan: Plan): readonly Fact[] {
  const { handovers, write_stop_ms: stop, outage_ms: outage, risks, redundancy_min: least } = plan
  const stops =
    handovers === 0
      ? 'never'
      : `${plural(handovers, 'time')}, about ${aboutMilliseconds(stop.typical)}, seldom above ${aboutMilliseconds(stop.longest)}: ${sourceOfWriteStop}`
  return [
    { name: 'Write stop', value: stops },
    {
      name: 'Other interruptions',
      value: outage === 0 ? 'never' : `about ${duration(outage)}`,
      ...(outage > 0 && { tone: 'bad' }),
    },
    { name: 'Takes', value: takes(plan) },
    { name: 'Memory', value: `${bytes(plan.memory_needed)} needed, ${bytes(plan.memory_free)} free` },
    { name: 'Disk', value: `${bytes(plan.disk_needed)} needed, ${bytes(plan.disk_free)} free` },
    {
      name: 'Copies of the data',
      value: least === 0 ? 'for a moment only that on disk' : `never fewer than ${least}`,
      ...(least === 0 && { tone: 'wait' }),
    },
    { name: 'Way back', value: wayBackOf(plan), ...(plan.way_back.until === 'never' && { tone: 'wait' }) },
    { name: 'Way back later', value: laterOf(plan) },
    {
      name: 'Risks',
      value: risks.length === 0 ? 'none known' : risks.join('; '),
      ...(risks.length > 0 && { tone: 'wait' }),
    },
  ]
}

function takes({ duration: { ms, not_counted: besides } }: Plan): string {
  const sum = ms === null ? 'not known' : `about ${duration(ms)}`
  return besides.length === 0 ? sum : `${sum}; not counted: ${besides.join(', ')}`
}

function wayBackOf({ way_back: { until, seconds, why } }: Plan): string {
  switch (until) {
    case 'finalized':
      return 'without loss, until you finalize'
    case 'time':
      return `without loss, for ${duration((seconds ?? 0) * 1_000)} after the last handover`
    case 'handover':
      return 'without loss, until the last group has handed over'
    case 'never':
      return `none after the handover: ${why}`
  }
}

/** After the end of the way back without loss. */
function laterOf({ way_back: { afterwards: later } }: Plan): string {
  return later.possible ? later.why : `none: ${later.why}`
}

/** Merges groups with the same steps. */
export function foldLanes(
  lanes: readonly PlanLane[],
): readonly { readonly lane: PlanLane; readonly groups: readonly number[] }[] {
  const kinds = Map.groupBy(lanes, ({ steps }) => steps.map(({ op_name }) => op_name).join())
  return [...kinds.values()].flatMap((alike) => {
    const [lane] = alike
    return lane === undefined ? [] : [{ lane, groups: alike.map(({ group }) => group) }]
  })
}

/** The plan for a ticket. */
export function planAsMarkdown(plan: Plan, title: string, at: string): string {
  const trial = plan.trial === undefined ? [] : [`- ${trialOf(plan.trial)}`]
  const unproven = plan.unproven.map((each) => `- Only the upgrade itself can show: ${each}`)
  const facts = factsOf(plan).map(({ name, value }) => `- ${name}: ${value}`)
  return [
    `## Plan: ${title}`,
    '',
    `Dry run of ${at}, basis ${plan.basis}`,
    '',
    ...trial,
    ...facts,
    ...unproven,
    '',
  ].join('\n')
}

/** The result of the target's trial. */
export function trialOf({ ok, why, start_ms: ms }: NonNullable<Plan['trial']>): string {
  return ok
    ? `The target starts: ${aboutMilliseconds(ms)}, as a shard of this database would be; it was removed again`
    : `The target does not start: ${why}`
}

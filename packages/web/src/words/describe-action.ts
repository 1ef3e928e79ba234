import { type Action, actionKinds, actionOutcomes, actionPhases } from '@fairlead/api'
import { duration, plural } from './format.ts'

/** The four hues, and none: in motion, proved, awaited, broken. */
export type Tone = 'busy' | 'ok' | 'wait' | 'bad' | 'quiet'
/** The shapes that accompany hues: colour is never alone. */
export type Sign =
  | ('active' | 'changing' | 'queued' | 'waits' | 'stuck' | 'failed' | 'back' | 'done')
  | ('paused' | 'planned' | 'go')

/** A state with its shape, hue and words. */
export interface Mark {
  readonly sign: Sign
  readonly tone: Tone
  readonly label: string
}

const signs: Readonly<Record<Exclude<Action['phase'], 'ended'>, readonly [Sign, Tone]>> = {
  queued: ['queued', 'quiet'],
  preparing: ['changing', 'busy'],
  ready: ['go', 'wait'],
  handing_over: ['changing', 'busy'],
  window: ['waits', 'ok'],
  finishing: ['changing', 'busy'],
  paused: ['paused', 'wait'],
  stuck: ['stuck', 'bad'],
  undoing: ['back', 'busy'],
}
/** An outcome that a user ordered is not red. */
const ends: Readonly<Record<NonNullable<Action['outcome']>, readonly [Sign, Tone]>> = {
  completed: ['done', 'ok'],
  rolled_back: ['back', 'quiet'],
  cancelled: ['back', 'quiet'],
  failed: ['failed', 'bad'],
}

/** The phase or outcome of an action, for a cell or a headline. */
export function markOf({ phase, outcome }: Pick<Action, 'phase' | 'outcome'>): Mark {
  if (phase !== 'ended') {
    const [sign, tone] = signs[phase]
    return { sign, tone, label: actionPhases[phase].label }
  }
  const [sign, tone] = ends[outcome ?? 'completed']
  return { sign, tone, label: actionOutcomes[outcome ?? 'completed'].label }
}

type DescribedAction = Pick<
  Action,
  'phase' | 'outcome' | 'lanes' | 'name' | 'from' | 'goal' | 'began_time' | 'ended_time'
>

/** The headline of an action. Its wait is below. */
export function headlineOf(action: DescribedAction): string {
  const { phase, lanes = [], goal } = action
  const moved = lanes.filter((lane) => lane.handed_over).length
  if (phase === 'ended') return endOf(action)
  if (phase === 'window') return `Served by ${runsOf(goal)}; the old primaries follow`
  if (phase === 'preparing' && moved === 0 && action.name === 'SMUpgradeBDB')
    return 'Prepares the new shards; nothing old has been touched'
  if (phase === 'ready' && lanes.length > 1) return `${actionPhases.ready.label}: ${readyOf(lanes)}`
  // Also while the next group prepares: it never goes back to the begin.
  if (lanes.length > 1 && (phase === 'handing_over' || (phase === 'preparing' && moved > 0)))
    return `Hands over: ${moved} of ${plural(lanes.length, 'group')} done`
  return actionPhases[phase].label
}

const meanwhile: Readonly<Record<Exclude<Action['phase'], 'window' | 'stuck' | 'ended'>, string>> = {
  queued: 'Other upgrades go first, or its first step is about to begin',
  preparing: 'New shards start and receive the data',
  ready: 'No role moves before a user resumes it',
  handing_over: 'A handover that has begun is completed',
  finishing: 'The other shards are upgraded, and surplus ones leave',
  paused: 'Nothing new begins until a user resumes it; faults are still repaired',
  undoing: 'What it began is undone',
}

/** The text below the headline without a wait, whose line would be blank. */
export function meanwhileOf({
  name,
  phase,
  window_ends: ends,
}: Pick<Action, 'name' | 'phase' | 'window_ends'>): string {
  if (name !== 'SMUpgradeBDB' || phase === 'stuck' || phase === 'ended') return ''
  if (phase !== 'window') return meanwhile[phase]
  const until = ends === null ? 'until' : 'until the rollback window ends, or until'
  return `The old primaries stay as standbys ${until} a user finalizes or rolls back`
}

function readyOf(lanes: NonNullable<DescribedAction['lanes']>): string {
  const ready = lanes.filter(({ waiting }) => waiting?.hold_reason === 'supervised').map(({ group }) => group)
  if (ready.length === lanes.length) return `all ${plural(lanes.length, 'group')}`
  return `${ready.length} of ${plural(lanes.length, 'group')} (${nameGroups(ready)})`
}

/** "group 0", "groups 0 and 2": groups are named by number, from 0. */
function nameGroups(groups: readonly number[]): string {
  if (groups.length === 1) return `group ${groups[0]}`
  return `groups ${groups.slice(0, -1).join(', ')} and ${groups.at(-1)}`
}

function endOf({ outcome, from, began_time: began, ended_time: ended }: DescribedAction): string {
  const took = began !== null && ended !== null ? Date.parse(ended) - Date.parse(began) : null
  const { label: word } = actionOutcomes[outcome ?? 'completed']
  const label = outcome === 'rolled_back' && from !== null ? `${word} to ${runsOf(from)}` : word
  return took === null || took < 1 ? label : `${label} after ${duration(took)}`
}

/** Names what a failed upgrade without handover left unchanged; null: unknown. `database`: its state now. */
export function keptOf(
  { name, outcome, from, goal, lanes = [] }: Pick<Action, 'name' | 'outcome' | 'from' | 'goal' | 'lanes'>,
  database: Runs | null | undefined,
): string | null {
  const isFailed = name === 'SMUpgradeBDB' && outcome === 'failed' && lanes.length > 0
  if (!isFailed || lanes.some((lane) => lane.handed_over) || database == null) return null
  const [before, now] = [runsOf(from), runsOf(database)]
  return now === before && now !== runsOf(goal)
    ? `Clients are served by ${before} as before: there was no handover, and the database is as it was`
    : null
}

/** An engine and its version. */
export interface Runs {
  readonly engine: string
  readonly engine_version: string
}

/** "valkey 9.1.2". */
export function runsOf(runs: Runs | null): string {
  return runs === null ? '' : `${runs.engine} ${runs.engine_version}`
}

/** Describes an action: "redis 7.0.15 → valkey 9.1.2" or "Creation". */
export function whatItDoes({ name, from, goal }: Pick<Action, 'name' | 'from' | 'goal'>): string {
  if (name !== 'SMUpgradeBDB' || from === null || goal === null) return actionKinds[name].label
  const [before, after] = [runsOf(from), runsOf(goal)]
  return before === after ? `${after}, new processes` : `${before} → ${after}`
}

/** "valkey-9.1.2", for the API. */
export function nameOfRuns({ engine, engine_version }: Runs): string {
  return `${engine}-${engine_version}`
}

import type { Action } from '@fairlead/api'
import { actionKinds, actionOutcomes, actionPhases } from '@fairlead/api/lean'
import type { Column } from '../output/print-answer.ts'
import { showTime } from '../output/show-quantity.ts'
import type { Style } from '../output/terminal.ts'
import { writeStopOf } from './upgrades/describe-handover.ts'

/** Columns of a list of actions; `names` has the names of databases by uid. */
export function actionColumns(names: ReadonlyMap<number, string>): readonly Column<Action>[] {
  return [
    { name: 'uid', value: ({ action_uid }) => action_uid, narrow: 'spare' },
    { name: 'kind', value: kindOf, shown: ({ name }) => wordOf(actionKinds, name) },
    { name: 'database', value: ({ bdb_uid, object_name }) => names.get(bdb_uid ?? 0) ?? object_name },
    { name: 'phase', value: ({ phase, outcome }) => outcome ?? phase, shown: labelOf, style: styleOf },
    {
      name: 'progress',
      value: ({ progress }) => progress,
      shown: ({ progress }) => `${Math.floor(progress)} %`,
      narrow: 'spare',
    },
    {
      name: 'goal',
      value: ({ goal }) => (goal === null ? '' : `${goal.engine} ${goal.engine_version}`),
      narrow: 'whole',
    },
    {
      name: 'began',
      value: ({ began_time, creation_time }) => began_time ?? creation_time,
      shown: ({ began_time, creation_time }, terminal) =>
        showTime(Date.parse(began_time ?? creation_time), terminal),
    },
    { name: 'by', value: ({ requested_by }) => requested_by, isWide: true },
    { name: 'waits_for', value: ({ waiting_for }) => waiting_for, isWide: true },
  ]
}

/** Columns of a single action. */
export function actionDetails(name: string): readonly Column<Action>[] {
  const known = actionColumns(new Map()).map(({ isWide: _, ...column }) => column)
  return [
    ...known.map((column) => (column.name === 'database' ? { ...column, value: () => name } : column)),
    { name: 'from', value: ({ from }) => (from === null ? '' : `${from.engine} ${from.engine_version}`) },
    { name: 'error', value: ({ error }) => error ?? '', style: () => 'bad' },
    { name: 'way_back_until', value: ({ window_ends }) => window_ends },
    { name: 'handovers', value: ({ certificates }) => certificates.map(certificateLine).join(' · ') },
    { name: 'warnings', value: ({ warnings }) => warnings.join(' · '), style: () => 'warn' },
    {
      name: 'orders',
      value: ({ orders }) =>
        Object.entries(orders)
          .filter(([, { ok }]) => ok)
          .map(([order]) => order)
          .join(' '),
    },
  ]
}

/** The phase in words, or the outcome of an ended action. */
export function labelOf({ phase, outcome }: Pick<Action, 'phase' | 'outcome'>): string {
  return outcome === null ? wordOf(actionPhases, phase) : wordOf(actionOutcomes, outcome)
}

function kindOf({ name }: Pick<Action, 'name'>): string {
  const known: Readonly<Record<string, { readonly kind: string }>> = actionKinds
  return known[name]?.kind ?? name
}

/** The label of a code; an unknown code of a newer server is shown itself. */
export function wordOf(words: Readonly<Record<string, { readonly label: string }>>, code: string): string {
  return words[code]?.label ?? code
}

/** "1 -> 11, write stop 2.9 ms". */
export function certificateLine(certificate: Action['certificates'][number]): string {
  return `${certificate.from} -> ${certificate.to}, ${writeStopOf(certificate)}`
}

function styleOf({ phase, outcome }: Action): Style | undefined {
  // An outcome that a user ordered is no fault.
  if (outcome === 'rolled_back' || outcome === 'cancelled') return 'dim'
  if (outcome !== null) return outcome === 'completed' ? 'good' : 'bad'
  return phase === 'stuck' ? 'bad' : phase === 'ready' || phase === 'paused' ? 'warn' : undefined
}

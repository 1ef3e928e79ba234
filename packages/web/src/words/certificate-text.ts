import { type Action, type Certificate, handoverLengths, sayLength } from '@fairlead/api'
import { runsOf } from './describe-action.ts'
import type { Step } from './fold-steps.ts'
import { count } from './format.ts'
import { lengthsOf } from './handover-lengths.ts'

/** An unmeasured value is never shown as 0. */
export function known<T>(value: T | null, show: (value: T) => string, otherwise = 'not measured'): string {
  return value === null ? otherwise : show(value)
}

/** Returns whether both shards had the same offset in the write stop; undefined: not recorded. */
export function areEqual({ offset_from: from, offset_to: to }: Certificate): boolean | undefined {
  return from === null || to === null ? undefined : from === to
}

/** The sign between the two offsets. */
export function signOf(certificate: Certificate): '=' | '≠' | '·' {
  const equal = areEqual(certificate)
  return equal === undefined ? '·' : equal ? '=' : '≠'
}

/** The write stop of a completed handover step; null: not completed, or its certificate is missing. */
export function stopOf(step: Step, certificates: readonly Certificate[]): string | null {
  if (step.op_name !== 'hand-over' || step.state !== 'done') return null
  const own = certificates.findLast(({ from, to }) => from === step.from && to === step.shard)
  return own === undefined ? null : known(own.write_stop_ms, sayLength)
}

/** The longest write stop of an action; empty: none recorded. */
export function longestStop({ certificates }: Pick<Action, 'certificates'>): string {
  const stops = certificates.flatMap(({ write_stop_ms: ms }) => (ms === null ? [] : [ms]))
  return stops.length === 0 ? '' : sayLength(Math.max(...stops))
}

/** Describes what a certificate proves. */
export function proofOf(certificate: Certificate): string {
  const equal = areEqual(certificate)
  if (equal === undefined) return 'The offsets are not on record: a crash came before'
  if (!equal) return 'The offsets differ: the difference is lost'
  if (certificate.keys === 0)
    return 'Nothing to compare: the group is empty. Its history was the same on both while writes were stopped'
  return 'Equal offsets while writes were stopped: what the old primary had acknowledged, the new one holds'
}

/** The longest wait of a client with its meaning, or why none had to wait. */
export function waitOf({
  longest_wait_ms: ms,
  clients_held: clients,
}: Pick<Certificate, 'longest_wait_ms' | 'clients_held'>): {
  readonly number: string
  readonly words: string
} {
  const term = handoverLengths.longest_wait.label.toLowerCase()
  if (ms === 0 || clients === 0)
    return { number: 'none', words: `${term}: no client asked anything meanwhile` }
  return { number: known(ms, sayLength), words: `${term} of a client` }
}

/** The lengths that the certificates have, with their meanings. */
export function lengthsShown(certificates: readonly Certificate[]): readonly LengthWords[] {
  const { write_stop: stop, longest_wait: wait, hold, whole } = handoverLengths
  const hasEndpoint = certificates.some(({ held_ms: held }) => held !== null)
  const hasParts = certificates.some(({ phases }) => phases !== null)
  return [stop, ...(hasEndpoint ? [wait, hold] : []), ...(hasParts ? [whole] : [])]
}

/** A term and its meaning. */
export interface LengthWords {
  readonly label: string
  readonly meaning: string
}

/** Explains why times of the same moment differ; null: all have one clock. */
export function clocksOf({ held_ms: held, phases }: Pick<Certificate, 'held_ms' | 'phases'>): string | null {
  if (held === null || phases === null) return null
  const { write_stop: stop, longest_wait: wait, hold, whole } = handoverLengths
  return `${wait.label} and ${hold.label} are by the clock of the proxy. ${stop.label}, ${whole.label} and the parts are by that of the server, and include the time that its orders take to arrive.`
}

/** An action's certificates for a ticket. */
export function certificatesAsMarkdown(action: Action, databaseName: string): string {
  const { action_uid: uid, from, goal, requested_by: by, certificates, warnings } = action
  const head = [
    `## Upgrade of ${databaseName}: ${runsOf(from)} → ${runsOf(goal)}`,
    `Action ${uid}${by === null ? '' : `, ordered by ${by}`}. ${certificates.length} handover${certificates.length === 1 ? '' : 's'}.`,
  ]
  const rows = certificates.map(rowOf)
  const { write_stop: stop, longest_wait: wait, hold, whole } = handoverLengths
  const lengths = [stop, wait, hold, whole].map(({ label }) => label.toLowerCase()).join(' | ')
  const table = [
    `| group | shards | at | ${lengths} | offsets | keys | full syncs |`,
    '|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ]
  const meanings = lengthsShown(certificates).map(({ label, meaning }) => `- ${label}: ${meaning}`)
  const notes =
    warnings.length === 0 ? [] : [['Warnings:', ...warnings.map((each) => `- ${each}`)].join('\n')]
  return `${[...head, table.join('\n'), meanings.join('\n'), ...notes].join('\n\n')}\n`
}

function rowOf(certificate: Certificate): string {
  const { group, from, to, at, recovered } = certificate
  const { stop, longestWait, hold, whole } = lengthsOf(certificate)
  const { offset_from, offset_to, keys, full_syncs } = certificate
  const cells = [
    known(group, String, '–'),
    `${from} → ${to}`,
    at,
    `${recovered ? '≤ ' : ''}${known(stop, String)}`,
    ...[longestWait, hold, whole].map((length) => known(length, String)),
    `${known(offset_from, count, '?')} ${signOf(certificate)} ${known(offset_to, count, '?')}`,
    known(keys, count),
    known(full_syncs, count, 'counting'),
  ]
  return `| ${cells.join(' | ')} |`
}

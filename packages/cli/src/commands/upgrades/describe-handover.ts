import type { Certificate } from '@fairlead/api'
import { handoverLengths, sayLength } from '@fairlead/api/lean'

/** The proof of a handover in one line: "handover 1 -> 11, write stop 2.9 ms, …". */
export function describeHandover(certificate: Certificate): string {
  const { from, to, group, held_ms, longest_wait_ms, offset_from, offset_to, keys, full_syncs } = certificate
  const parts = [
    `${group === null || group === 0 ? '' : `group ${group} `}handover ${from} -> ${to}`,
    writeStopOf(certificate),
    ...lengthOf('longest_wait', longest_wait_ms),
    ...lengthOf('hold', held_ms),
    ...(offset_from === null || offset_to === null
      ? []
      : [`offsets ${offset_from} ${signBetween(offset_from, offset_to)} ${offset_to}`]),
    ...(keys === null ? [] : [`${keys} keys`]),
    ...(full_syncs === null ? [] : [`${full_syncs} full syncs`]),
  ]
  return parts.join(', ')
}

function lengthOf(length: 'longest_wait' | 'hold', ms: number | null): readonly string[] {
  return ms === null ? [] : [`${wordOf(length)} ${sayLength(ms)}`]
}

function wordOf(length: keyof typeof handoverLengths): string {
  return handoverLengths[length].label.toLowerCase()
}

/** The length of the write stop, in words. */
export function writeStopOf({ write_stop_ms: ms }: Pick<Certificate, 'write_stop_ms'>): string {
  return `${wordOf('write_stop')} ${ms === null ? 'not known' : sayLength(ms)}`
}

function signBetween(from: number, to: number): string {
  if (from === to) return '='
  return from > to ? '>' : '<'
}

import type { Certificate } from '@fairlead/api'
import { showMs } from '../../output/show-quantity.ts'

/** What a handover left behind as proof, in one line: "handover 1 -> 11, writes stood still 2.85 ms, …". */
export function describeHandover(certificate: Certificate): string {
  const { from, to, group, held_ms, offset_from, offset_to, keys, full_syncs } = certificate
  const parts = [
    `${group === null || group === 0 ? '' : `group ${group} `}handover ${from} -> ${to}`,
    writeStopOf(certificate),
    ...(held_ms === null ? [] : [`clients waited ${showMs(held_ms)}`]),
    ...(offset_from === null || offset_to === null
      ? []
      : [`offsets ${offset_from} ${signBetween(offset_from, offset_to)} ${offset_to}`]),
    ...(keys === null ? [] : [`${keys} keys`]),
    ...(full_syncs === null ? [] : [`${full_syncs} full syncs`]),
  ]
  return parts.join(', ')
}

/** How long writes stood still, as words. */
export function writeStopOf({ write_stop_ms: ms }: Pick<Certificate, 'write_stop_ms'>): string {
  return `writes stood still ${ms === null ? 'for an unknown time' : showMs(ms)}`
}

function signBetween(from: number, to: number): string {
  if (from === to) return '='
  return from > to ? '>' : '<'
}

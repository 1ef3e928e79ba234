import type { Certificate } from '@fairlead/api'
import { showMs } from '../../output/show-quantity.ts'

/** What a handover left behind as proof, in one line: "handover 1 -> 11, writes stood still 2.85 ms, …". */
export function describeHandover(certificate: Certificate): string {
  const { from, to, group, write_stop_ms, held_ms, offset_from, offset_to, keys, full_syncs } = certificate
  const parts = [
    `${group === null || group === 0 ? '' : `group ${group} `}handover ${from} -> ${to}`,
    `writes stood still ${write_stop_ms === null ? 'for an unknown time' : showMs(write_stop_ms)}`,
    ...(held_ms === null ? [] : [`clients waited ${showMs(held_ms)}`]),
    ...(offset_from === null || offset_to === null
      ? []
      : [
          `offsets ${offset_from} ${offset_to < offset_from ? '>' : '='} ${offset_to < offset_from ? offset_to : offset_from}`,
        ]),
    ...(keys === null ? [] : [`${keys} keys`]),
    ...(full_syncs === null ? [] : [`${full_syncs} full syncs`]),
  ]
  return parts.join(', ')
}

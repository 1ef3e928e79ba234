import { type Certificate, sayLength } from '@fairlead/api'
import { handoverParts, type PartTimes } from './handover-scale.ts'

/** The lengths of a handover in words; null: not measured. */
export interface Lengths {
  readonly stop: string | null
  readonly longestWait: string | null
  readonly hold: string | null
  /** Only with an endpoint: other handovers have no hold. */
  readonly whole: string | null
  readonly parts: Readonly<Record<keyof PartTimes, string>> | null
}

type Measured = Pick<Certificate, 'write_stop_ms' | 'longest_wait_ms' | 'held_ms' | 'phases'>

/** Rounds the parts so that their shown values add up to the write stop and to the whole. */
export function lengthsOf(certificate: Measured): Lengths {
  const { write_stop_ms: stop, longest_wait_ms: wait, held_ms: held, phases } = certificate
  const say = (ms: number | null) => (ms === null ? null : sayLength(ms))
  return {
    stop: say(stop),
    longestWait: say(wait),
    hold: say(held),
    ...(phases === null ? { whole: null, parts: null } : partsOf(phases, stop)),
  }
}

function partsOf(phases: PartTimes, stopMs: number | null): Pick<Lengths, 'whole' | 'parts'> {
  const { hold, pause, equal, promote, release } = phases
  const untilEqual = tenths(pause + equal)
  // In records of earlier versions, the write stop may be a little longer than its parts.
  const promoted = Math.max(tenths(stopMs ?? pause + equal + promote) - untilEqual, 0)
  const rounded: PartTimes = {
    hold: tenths(hold),
    pause: tenths(pause),
    equal: untilEqual - tenths(pause),
    promote: promoted,
    release: tenths(release),
  }
  const sum = handoverParts.reduce((all, [name]) => all + rounded[name], 0)
  const say = (name: keyof PartTimes) =>
    sayLength(rounded[name] === 0 ? Math.min(phases[name], 0.04) : rounded[name] / 10)
  return {
    whole: sayLength(sum / 10),
    parts: {
      hold: say('hold'),
      pause: say('pause'),
      equal: say('equal'),
      promote: say('promote'),
      release: say('release'),
    },
  }
}

function tenths(ms: number): number {
  return Math.round(ms * 10)
}

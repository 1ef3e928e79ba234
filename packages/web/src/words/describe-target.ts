import { holeReaches, type Output, type operations, worstReach } from '@fairlead/api'
import { plural } from './format.ts'

type Target = Output<typeof operations.listUpgradeTargets>[number]

/** The text next to a possible build: its merits, and its known holes. */
export interface TargetHint {
  readonly praise: string
  /** Empty: none known. */
  readonly holes: string
  readonly tone: 'bad' | 'wait' | 'quiet'
}

type Judged = Pick<Target, 'recommended' | 'newest' | 'engine' | 'known_holes'>

/** Holes are always shown, also of the recommended build. */
export function hintOf(target: Judged): TargetHint {
  const { recommended, newest, engine, known_holes: holes } = target
  const said = sayHoles(holes)
  if (recommended) return { praise: said.tone === 'quiet' ? 'recommended' : leastBad(engine), ...said }
  return { praise: newest ? `newest ${engine}` : '', ...said }
}

/** A build with a harmful hole is recommended only if every other one has one. */
function leastBad(engine: string): string {
  return `least bad: no newer ${engine} here is without harmful holes (fairlead engines fetch ${engine} may bring one)`
}

/** The worst effect of these holes. */
export function sayHoles(holes: Target['known_holes']): Omit<TargetHint, 'praise'> {
  if (holes.length === 0) return { holes: '', tone: 'quiet' }
  const { harm, tone } = harmOf(holes)
  return { holes: `${plural(holes.length, 'known hole')}: ${harm}`, tone }
}

/** The same without the number. */
export function harmOf(holes: Target['known_holes']): {
  readonly harm: string
  readonly tone: TargetHint['tone']
} {
  const reach = worstReach(holes)
  return { harm: holeReaches[reach], tone: tones[reach] }
}

const tones = { code: 'bad', crash: 'wait', other: 'quiet' } as const

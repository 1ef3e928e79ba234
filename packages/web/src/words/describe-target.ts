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

type Judged = Pick<Target, 'recommended' | 'known_holes'>

/** Holes are always shown, also of the recommended build. */
export function hintOf(target: Judged): TargetHint {
  const said = sayHoles(target.known_holes)
  if (!target.recommended) return { praise: '', ...said }
  return { praise: said.tone === 'quiet' ? 'recommended' : leastBad, ...said }
}

/** A build with a harmful hole is recommended only if every other one has one. */
const leastBad =
  'least bad: nothing that it can go to is without harmful holes (fairlead engines fetch may bring such a build)'

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

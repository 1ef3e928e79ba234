import { holeReaches, type Output, type operations, worstReach } from '@fairlead/api'
import { plural } from './format.ts'

type Target = Output<typeof operations.listUpgradeTargets>[number]

/** What stands beside a build that can be chosen: what speaks for it, and the known holes that speak against it. */
export interface TargetHint {
  readonly praise: string
  /** Empty: none is known. */
  readonly holes: string
  readonly tone: 'bad' | 'wait' | 'quiet'
}

type Judged = Pick<Target, 'recommended' | 'newest' | 'engine' | 'known_holes'>

/** A hole is never passed over, also of the build that is recommended. */
export function hintOf(target: Judged): TargetHint {
  const { recommended, newest, engine, known_holes: holes } = target
  const said = sayHoles(holes)
  if (recommended) return { praise: said.tone === 'quiet' ? 'recommended' : leastBad(engine), ...said }
  return { praise: newest ? `newest ${engine}` : '', ...said }
}

/** A build with a harmful hole is recommended only where no other is without. */
function leastBad(engine: string): string {
  return `least bad: no newer ${engine} here is without harmful holes (fairlead engines fetch ${engine} may bring one)`
}

/** The worst that clients can do through them. */
export function sayHoles(holes: Target['known_holes']): Omit<TargetHint, 'praise'> {
  if (holes.length === 0) return { holes: '', tone: 'quiet' }
  const { harm, tone } = harmOf(holes)
  return { holes: `${plural(holes.length, 'known hole')}: ${harm}`, tone }
}

/** The same without their number. */
export function harmOf(holes: Target['known_holes']): {
  readonly harm: string
  readonly tone: TargetHint['tone']
} {
  const reach = worstReach(holes)
  return { harm: holeReaches[reach], tone: tones[reach] }
}

const tones = { code: 'bad', crash: 'wait', other: 'quiet' } as const

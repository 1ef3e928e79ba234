import type { listUpgradeTargets, Output } from '@fairlead/api'
import { holeReaches, worstReach } from '@fairlead/api/lean'
import type { UpgradePlan } from './describe-plan.ts'

type Target = Output<typeof listUpgradeTargets>[number]
type Goal = Pick<UpgradePlan, 'engine' | 'engine_version'>

/** Explains the target of an upgrade without a given build; undefined: it stays. */
export function describeChoice(
  { engine, engine_version }: Goal,
  targets: readonly Target[],
): string | undefined {
  const chosen = targets.find(
    (target) => target.engine === engine && target.engine_version === engine_version,
  )
  if (chosen === undefined || chosen.current) return undefined
  const name = `${engine} ${engine_version}`
  if (isHarmful(chosen))
    return `${name} is the least bad (${holesOf(chosen)}): it can go to no newer build here without such holes; fairlead engines fetch ${engine} may bring one`
  const passed = targets
    .filter((target) => target.possible && !target.current && isHarmful(target))
    .map((target) => `${target.engine} ${target.engine_version} (${holesOf(target)})`)
  const which = chosen.recommended ? 'is recommended' : `is the newest ${engine} here that it can go to`
  return `${name} ${which}${passed.length === 0 ? '' : `; passed over: ${passed.join(', ')}`}`
}

/** Returns whether clients can run code or end the engine with its holes. */
export function isHarmful({ known_holes: holes }: Pick<Target, 'known_holes'>): boolean {
  return worstReach(holes) !== 'other'
}

function holesOf({ known_holes: holes }: Target): string {
  const { length } = holes
  return `${length} known ${length === 1 ? 'hole' : 'holes'}: ${holeReaches[worstReach(holes)]}`
}

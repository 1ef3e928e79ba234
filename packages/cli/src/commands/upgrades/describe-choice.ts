import type { listUpgradeTargets, Output } from '@fairlead/api'
import type { UpgradePlan } from './describe-plan.ts'

type Target = Output<typeof listUpgradeTargets>[number]
type Goal = Pick<UpgradePlan, 'engine' | 'engine_version'>

const harms = { other: 0, crash: 1, code: 2 } as const

/** Where an upgrade goes that names no build, and why there; empty: it stays. `targets` have the newest of a flavour first, as the API lists them. */
export function describeChoice({ engine, engine_version }: Goal, targets: readonly Target[]): string {
  const ofEngine = targets.filter((target) => target.engine === engine)
  const place = ofEngine.findIndex((target) => target.engine_version === engine_version)
  const chosen = ofEngine[place]
  if (chosen === undefined || chosen.current) return ''
  const name = `${engine} ${engine_version}`
  if (harmOf(chosen) > 0)
    return `${name} is the least bad (${holesOf(chosen)}): it can go to no newer ${engine} here without such holes; fairlead engines fetch ${engine} may bring one`
  const worse = ofEngine.slice(0, place).filter((target) => target.possible && harmOf(target) > 0)
  if (worse.length === 0) return `${name} is the newest ${engine} here that it can go to`
  const passed = worse.map((target) => `${engine} ${target.engine_version} (${holesOf(target)})`)
  return `${name} is the newest ${engine} here without harmful holes; passed over: ${passed.join(', ')}`
}

/** The worst that clients can do through its holes. */
function harmOf({ known_holes: holes }: Target): number {
  return Math.max(0, ...holes.map(({ reach }) => harms[reach]))
}

function holesOf(target: Target): string {
  const { length } = target.known_holes
  const what = harmOf(target) === harms.code ? 'run code in the engine' : 'end the engine'
  return `${length} known ${length === 1 ? 'hole' : 'holes'}: clients can ${what}`
}

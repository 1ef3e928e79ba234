import { type Body, type Database, type Output, type operations, safeDefaults } from '@fairlead/api'
import { useSearchParams } from 'wouter'

/** A possible upgrade target. */
export type Target = Output<typeof operations.listUpgradeTargets>[number]
/** The body of an upgrade request. */
export type UpgradeRequest = Body<typeof operations.upgradeDatabase>

const ENDS = 'ends by itself: from then on there is no way back without loss'

/** Rollback windows, by their word in the address, with what they cost. */
export const windows = [
  {
    value: safeDefaults.rollback_window,
    label: 'Until I finalize',
    cost: 'recommended: the old primaries follow, and keep their memory, until you decide',
  },
  { value: '86400', label: '24 hours', cost: ENDS },
  { value: '900', label: '15 minutes', cost: ENDS },
  { value: '0', label: 'None', cost: 'after the handover there is no way back without loss' },
] as const

/** Parallel shards; empty: one per group. */
export const parallels = ['', '1', '2', '4', '8', '16'] as const

/** Choices on the page. All are in the address, so that it can be shared. */
export interface UpgradeChoice {
  /** "valkey-9.1.2"; `same`: the present build with new processes; empty: nothing yet. */
  readonly to: string
  readonly window: string
  readonly supervised: boolean
  readonly roles: boolean
  readonly modules: boolean
  /** Parallel shards; empty: one per group. */
  readonly parallel: string
}

/** The choice, and a function to change a part of it. */
export function useUpgradeChoice(): readonly [UpgradeChoice, (change: Partial<UpgradeChoice>) => void] {
  const [params, setParams] = useSearchParams()
  const change = (changed: Partial<UpgradeChoice>) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        for (const [name, value] of Object.entries(changed))
          if (value === false || value === '') next.delete(name)
          else next.set(name, value === true ? '1' : value)
        return next
      },
      { replace: true },
    )
  return [choiceOf(params), change]
}

/** Reads an address, limited to what the page shows: a link must not make hidden choices. */
export function choiceOf(params: URLSearchParams): UpgradeChoice {
  const oneOf = (name: string, known: readonly string[]) => {
    const value = params.get(name) ?? ''
    return known.includes(value) ? value : (known[0] ?? '')
  }
  return {
    to: params.get('to') ?? '',
    window: oneOf(
      'window',
      windows.map(({ value }) => value),
    ),
    supervised: params.has('supervised'),
    roles: params.has('roles'),
    modules: params.has('modules'),
    parallel: oneOf('parallel', parallels),
  }
}

/** Describes the options in one line: "Way back: until I finalize · keeps the roles of shards". */
export function sayChoice({ window, supervised, roles, modules, parallel }: UpgradeChoice): string {
  const way = windows.find(({ value }) => value === window)?.label ?? window
  return [
    `Way back: ${way.charAt(0).toLowerCase()}${way.slice(1)}`,
    ...(supervised ? ['stops before the first handover'] : []),
    ...(roles ? ['keeps the roles of shards'] : []),
    ...(modules ? ['newest modules'] : []),
    ...(parallel === '' ? [] : [`shards at once: ${parallel}`]),
  ].join(' · ')
}

/** The API request for a choice. */
export function requestOf(choice: UpgradeChoice, database: Pick<Database, 'module_list'>): UpgradeRequest {
  const { to, window, supervised, roles, modules, parallel } = choice
  const newest = modules && database.module_list.length > 0
  return {
    ...(to === 'same' ? { keep_engine_version: true, force_restart: true } : { engine_version: to }),
    rollback_window: window === 'until_finalized' ? 'until_finalized' : Number(window),
    ...(supervised && { supervised }),
    ...(roles && { preserve_roles: true }),
    ...(newest && { modules: database.module_list.map(({ module_name }) => ({ module_name })) }),
    ...(parallel !== '' && { parallel_shards_upgrade: Number(parallel) }),
  }
}

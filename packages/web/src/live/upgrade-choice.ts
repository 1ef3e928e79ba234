import type { Body, Database, Output, operations } from '@fairlead/api'
import { useSearchParams } from 'wouter'

/** A build that a database may go to. */
export type Target = Output<typeof operations.listUpgradeTargets>[number]
/** What an upgrade is asked for with. */
export type UpgradeRequest = Body<typeof operations.upgradeDatabase>

/** The ways to keep a way back, by their word in the address. */
export const windows = [
  { value: 'until_finalized', label: 'Until I finalize' },
  { value: '86400', label: '24 hours' },
  { value: '900', label: '15 minutes' },
  { value: '0', label: 'None' },
] as const

/** How many shards at once; empty: one in each group. */
export const parallels = ['', '1', '2', '4', '8', '16'] as const

/** What is chosen on the page, all of it in the address, so that it can be sent to somebody. */
export interface UpgradeChoice {
  /** "valkey-9.1.2"; `same`: the present build, with new processes; empty: nothing yet. */
  readonly to: string
  readonly window: string
  readonly supervised: boolean
  readonly roles: boolean
  readonly modules: boolean
  /** Shards at once; empty: one in each group. */
  readonly parallel: string
}

/** The choice, and what changes a part of it. */
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

/** What an address holds, as far as the page shows it: a link must not choose what its reader does not see. */
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

/** How it is to be done, in one line: "Way back: until I finalize · keeps the roles of shards". */
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

/** The choice as the API takes it. */
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

import type { Action } from '@fairlead/api'
import { type Pair, usualPair } from './engine-pairs.ts'
import type { Fairlead } from './start-fairlead.ts'
import { until } from './until.ts'

/** An upgrade in its rollback window, or on its way there. */
export interface Underway {
  readonly uid: number
  /** The action of the upgrade. */
  readonly action: string
}

/**
 * Creates a database with a replica and begins to upgrade it; `policy` is the rest of the request, `shape` of
 * the creation.
 */
export async function beginUpgrade(
  fairlead: Fairlead,
  { from, to }: Pair,
  policy: object = { rollback_window: 'until_finalized' },
  shape: object = {},
): Promise<Underway> {
  const { api } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: {
      name: `back-${Date.now().toString(36)}`,
      memory_size: 0,
      replication: true,
      engine_version: from,
      ...shape,
    },
  })
  const created = await fairlead.untilEnded(action_uid)
  if (created.status !== 'completed') throw new Error(`it was not created: ${created.error}`)
  const upgrade = await api.upgradeDatabase({ params: { uid }, body: { engine_version: to, ...policy } })
  return { uid, action: upgrade.action_uid ?? '' }
}

/** Polls an action until it fits. The message of a failure shows its last state. */
export async function untilAction(
  { api }: Fairlead,
  action: string,
  what: string,
  fits: (action: Action) => boolean,
): Promise<Action> {
  let last: Action | undefined
  try {
    return await until(
      what,
      async () => {
        last = await api.getAction({ params: { uid: action } })
        return fits(last) ? last : undefined
      },
      { withinMs: 60_000 },
    )
  } catch (cause) {
    throw new Error(`${(cause as Error).message}: ${JSON.stringify(last)}`, { cause })
  }
}

/**
 * Waits until the roles have moved and the standby follows, and the upgrade can be taken back (or cannot, if
 * the pair of builds has no way back). Answers the numbers of the old and the new primary.
 */
export async function untilWindow(
  fairlead: Fairlead,
  { action }: Underway,
  isEligible = true,
): Promise<{ readonly standby: number; readonly primary: number }> {
  const { certificates } = await untilAction(fairlead, action, 'the window is open', (seen) => {
    return seen.certificates.length > 0 && seen.state === 'hold' && seen.rollback_eligible === isEligible
  })
  const [{ from, to } = { from: '', to: '' }] = certificates
  return { standby: Number(from), primary: Number(to) }
}

/** Upgrades a database, calls `between` while it can go back, and goes back. Throws if it ends otherwise. */
export async function thereAndBack(
  fairlead: Fairlead,
  uid: number,
  between: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const { api } = fairlead
  const body = { engine_version: usualPair().to, rollback_window: 'until_finalized' as const }
  const { action_uid = '' } = await api.upgradeDatabase({ params: { uid }, body })
  await untilAction(
    fairlead,
    action_uid,
    'it can go back',
    ({ phase, orders }) => phase === 'window' && orders.rollback.ok,
  )
  await between()
  await api.rollbackAction({ params: { uid: action_uid } })
  const { outcome } = await untilAction(fairlead, action_uid, 'it is back', ({ phase }) => phase === 'ended')
  if (outcome !== 'rolled_back') throw new Error(`it ended as ${outcome}`)
}

import type { Action } from '@fairlead/api'
import { type Load, startLoad } from '@fairlead/ledger'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { rolesOf } from '../../proof/roles.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { armKill, isArmed, type Kill } from './arm-kill.ts'

/**
 * A replicated database under load, in a Fairlead whose server is a crash-main.ts. Disposing of it ends the
 * load.
 */
export interface Loaded extends AsyncDisposable {
  readonly fairlead: Fairlead
  readonly uid: number
  readonly groups: number
  readonly load: Load
}

/** The longest time that a client may wait for a reply. */
const REPLY_WITHIN_MS = 60_000

/** How a database is divided, and whether its clients connect to the shards themselves. */
export interface Shape {
  readonly groups?: number
  readonly oss_cluster?: boolean
}

/** Creates the database on the older build of the usual pair. */
export async function startLoaded(fairlead: Fairlead, shape: Shape = {}): Promise<Loaded> {
  const { api } = fairlead
  const { groups = 1, oss_cluster = false } = shape
  const { uid, action_uid } = await api.createDatabase({
    body: {
      name: freshName('killed'),
      memory_size: 0,
      replication: true,
      engine_version: usualPair().from,
      shards_count: groups,
      oss_cluster,
    },
  })
  await fairlead.untilEnded(action_uid)
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const load = await startLoad({
    kind: 'incr',
    connections: 9,
    perSecond: 2_000,
    replyWithinMs: REPLY_WITHIN_MS,
    password,
    lookup: {
      url: `${fairlead.url}/v1/bdbs/${uid}`,
      token: fairlead.token,
      groups: oss_cluster ? 'sharded' : 'one',
    },
  })
  return { fairlead, uid, groups, load, [Symbol.asyncDispose]: () => load[Symbol.asyncDispose]() }
}

/** Upgrades the database, or restarts it where it runs the target, with a kill: see actWithKill. */
export async function upgradeWithKill(loaded: Loaded, kill: Kill, whileAway = 0): Promise<Action> {
  const { fairlead, uid, groups } = loaded
  const body = { engine_version: usualPair().to, force_restart: true }
  const ask = () => fairlead.api.upgradeDatabase({ params: { uid }, body })
  const action = await actWithKill(loaded, { kill, whileAway, ask })
  const whole = [...Array(groups).fill('primary'), ...Array(groups).fill('replica')].join()
  await until('one primary and one replica a group', async () => {
    return (await rolesOf(fairlead, uid)).join() === whole
  })
  return action
}

/**
 * Begins an action, and kills one process on the way: server and agent are started again, once `whileAway`
 * writes were acknowledged without them. Answers the action when it has ended, and writes go on. Throws when
 * that does not happen.
 */
export async function actWithKill(
  { fairlead, uid, load }: Loaded,
  {
    kill,
    whileAway = 0,
    ask,
  }: {
    readonly kill: Kill
    readonly whileAway?: number
    readonly ask: () => Promise<{ readonly action_uid?: string }>
  },
): Promise<Action> {
  const { api, home } = fairlead
  await load.untilAcked(load.acked() + 100)
  armKill(home, kill)
  const part = kill.victim === 'server' || kill.victim === 'agent' ? fairlead[kill.victim] : undefined
  const ended = part?.ended
  // The server may be killed before it has answered: the action is on record then, too.
  const asked = await ask().catch(() => undefined)
  await until(`${kill.victim} is killed ${kill.when}`, () => !isArmed(home))
  await ended
  await load.untilAcked(load.acked() + whileAway)
  await part?.start()
  const action = await fairlead.untilEnded(
    asked?.action_uid ?? (await api.getDatabase({ params: { uid } })).action_uid,
  )
  await load.untilAcked(load.acked() + 100)
  return action
}

/** The records of the tests' world: each change is made at once and completely. */

import { changed } from '../../src/core/progress/changed.ts'
import type { Action as RecordedAction } from '../../src/core/state/action.ts'
import { type Database, type ShardRecord, splitSlots } from '../../src/core/state/database.ts'
import { runsOf } from '../../src/core/state/goal.ts'
import type { Handover } from '../../src/core/state/handover.ts'
import type {
  ActionsOnRecord,
  AuditTrail,
  DatabasesOnRecord,
  HandoversOnRecord,
  ShardsOnRecord,
} from '../../src/reconcile/turn/ports.ts'
import { databaseOf } from '../records.ts'
import type { Action } from './action.ts'
import { runningAction } from './group.ts'
import { enlist, lastHandover, type Member, memberOf, membersOf, type Team, type World } from './world.ts'

export interface RecordsInMemory extends AuditTrail {
  readonly databases: DatabasesOnRecord
  readonly shards: ShardsOnRecord
  readonly actions: ActionsOnRecord
  readonly handovers: HandoversOnRecord
}

/** The records of the only database. `refuse` throws when the asking server is dead. */
export function recordsOf(action: Action, refuse: () => void): RecordsInMemory {
  const { world } = action
  const alive = <T>(work: () => T): Promise<T> =>
    new Promise((resolve) => {
      refuse()
      resolve(work())
    })
  const records = () => membersOf(world).map(recordOf)
  const member = (id: number): Member => {
    const found = memberOf(world, id)
    if (found === undefined) throw new Error(`shard ${id} is not on record`)
    return found
  }
  const team = (number: number): Team => {
    const found = world.teams[number]
    if (found === undefined) throw new Error(`there is no group ${number}`)
    return found
  }
  const setFollows = (id: number, follows: number | null) =>
    alive(() => void Object.assign(member(id), { follows }))
  return {
    databases: databasesOf(action, { alive, team }),
    shards: {
      list: () => alive(records),
      portsWithin: ({ from, to }) =>
        alive(() => records().flatMap(({ port }) => (port >= from && port <= to ? [port] : []))),
      countPortsWithin: () => alive(() => 0),
      reservedBytes: () => alive(() => 0),
      withReservation: () => alive(() => []),
      databasesOf: () => unasked(),
      listOf: () => alive(records),
      insert: ({ group, runs, follows }) =>
        alive(() => recordOf(enlist(world, team(group), runsOf(runs), follows))),
      setNext: (id, { runs, follows }) =>
        alive(() => void Object.assign(member(id), { wanted: runsOf(runs), follows })),
      setFollows,
      setLeaving: (id, leaving) => alive(() => void Object.assign(member(id), { leaving })),
      endReservations: () => alive(() => undefined),
      limitBefore: () => alive(() => null),
      setLimitBefore: () => alive(() => undefined),
      remove: (id) =>
        alive(() => {
          const { group, state } = member(id)
          if (state !== 'absent') world.fault ??= `shard ${id} is ${state}, and not on record any more`
          group.members = group.members.filter((one) => one.id !== id)
        }),
    },
    actions: actionsOf(action, alive),
    handovers: handoversOf(world, alive),
    audit: { append: () => alive(() => undefined) },
  }
}

type Alive = <T>(work: () => T) => Promise<T>

function databasesOf(
  action: Action,
  { alive, team }: { readonly alive: Alive; readonly team: (number: number) => Team },
): RecordsInMemory['databases'] {
  return {
    listReserved: () => alive(() => [databaseIn(action)]),
    portsWithin: () => alive(() => []),
    countPortsWithin: () => alive(() => 0),
    get: () => alive(() => databaseIn(action)),
    setPrimary: (_, group, shard) => alive(() => void Object.assign(team(group), { recorded: shard })),
    setHistories: (_, news) =>
      alive(() => {
        for (const { group, history } of news) team(group).history = history
      }),
    advanceHistories: () => unasked(),
    setEndpointPort: () => unasked(),
    forgetFormer: () => unasked(),
    setObstacle: (_, obstacle) => alive(() => void Object.assign(action, { obstacle })),
  }
}

function actionsOf(action: Action, alive: Alive): ActionsOnRecord {
  const active = () => (action.ended === null ? recordedAction(action) : undefined)
  return {
    get: () => alive(() => recordedAction(action)),
    active: () => alive(active),
    listActive: () => alive(() => [active()].filter((one) => one !== undefined)),
    lanes: () => alive(() => [...action.lanes.values()]),
    update: (_, news, at) =>
      alive(() => {
        for (const lane of news.lanes ?? []) action.lanes.set(lane.group, lane)
        note(action, changed(recordedAction(action), news, at))
      }),
    warn: (_, warning, at) =>
      alive(() => {
        const { warnings } = recordedAction(action)
        if (warnings.includes(warning)) return
        note(action, changed(recordedAction(action), { warnings: [...warnings, warning] }, at))
      }),
    finish: ({ error }, _, at) =>
      alive(() => {
        action.ended = error === null ? 'done' : 'failed'
        const end = { status: action.ended, progress: 100, waiting: null, handingOver: false } as const
        note(action, changed(recordedAction(action), end, at))
      }),
    closeWayBack: ({ goal }, wayBack, at) =>
      alive(() => {
        if (JSON.stringify(goal) !== JSON.stringify(action.goal)) return false
        note(action, changed(recordedAction(action), { wayBack }, at))
        return true
      }),
  }
}

function handoversOf(world: World, alive: Alive): HandoversOnRecord {
  const all = () => world.teams.flatMap(({ handovers }) => handovers)
  const change = (id: number, news: Partial<Handover>) => {
    for (const one of world.teams)
      one.handovers = one.handovers.map((handover) =>
        handover.id === id ? { ...handover, ...news } : handover,
      )
  }
  return {
    open: (_, group) => alive(() => world.teams[group]?.handovers.find(({ closed }) => !closed)),
    last: () =>
      alive(() => {
        const each = world.teams.flatMap((team) => lastHandover(team) ?? [])
        return new Map(each.map((one) => [one.group, one]))
      }),
    intend: (intent) =>
      alive(() => {
        const handover = {
          ...intent,
          id: all().length + 1,
          released: false,
          closed: false,
          certificate: null,
        }
        const team = world.teams[intent.group]
        if (team?.handovers.some(({ closed }) => !closed) !== false) throw new Error('one is open already')
        team.handovers = [...team.handovers, handover]
        return handover
      }),
    certify: ({ id, group, to }, certificate) =>
      alive(() => {
        change(id, { certificate, released: true })
        Object.assign(world.teams[group] ?? {}, { recorded: to })
      }),
    release: (id) => alive(() => change(id, { released: true })),
    close: (id, certificate) => alive(() => change(id, { certificate, released: true, closed: true })),
    keepTape: unasked,
  }
}

export const unasked = () => Promise.reject(new Error('nothing asks for this here'))

function recordOf({ id, group, wanted, follows, leaving }: Member): ShardRecord {
  const place = { nodeUid: 1, host: '', port: id, tlsPort: null }
  return {
    ...place,
    id,
    databaseUid: 1,
    group: group.number,
    runs: wanted,
    follows,
    leaving,
    reservedBytes: 0,
  }
}

function databaseIn({ world, asked, goal, obstacle }: Action): Database {
  const [all] = splitSlots(1)
  const groups = world.teams.map(({ number, slots, recorded, history }) => ({
    number,
    slots: slots ?? all ?? { first: 0, last: 0 },
    primaryShard: recorded,
    history,
  }))
  const runs = asked.from ?? goal
  return databaseOf({
    ...runsOf(runs),
    cluster: world.cluster,
    persistence: world.persistence,
    replicas: asked.replicas,
    aofFsync: world.always ? 'always' : 'everysec',
    groups,
    obstacle,
  })
}

/** The record of the action. */
export function recordedAction(action: Action): RecordedAction {
  const { asked, goal, orders, handedOverAt, error, warnings } = action
  return {
    ...runningAction,
    ...action.noted,
    asked,
    goal,
    orders,
    error,
    warnings,
    handedOverAt: handedOverAt === null ? null : new Date(handedOverAt).toISOString(),
  }
}

/** Replaces the record of the action. */
export function note(action: Action, after: RecordedAction): void {
  const { goal, orders, error, warnings, handedOverAt } = after
  Object.assign(action, { goal, orders, error, warnings, noted: after })
  action.handedOverAt = handedOverAt === null ? null : Date.parse(handedOverAt)
}

import { expect, test } from 'vitest'
import { goalOf, runningAction, shardedOf, undoOf } from '../../../test/simulation/group.ts'
import type { Action, ActionNews } from '../../core/state/action.ts'
import type { Database } from '../../core/state/database.ts'
import type { Lane } from '../../core/state/lane.ts'
import { type ClusterNode, isLive, type ObservedDatabase } from '../../core/state/topology.ts'
import { noteAction } from '../records/note-action.ts'
import { noteObstacle } from '../records/note-obstacle.ts'
import { createTurnMemory } from '../turn/turn-memory.ts'
import { planLanes } from './decide.ts'

const whole = shardedOf(2, 0)
const database = { uid: 1, obstacle: null } as Database
/** An upgrade that was given up: both groups run the old build again. */
const goal = undoOf(goalOf({ cluster: true, replicas: 0, groups: 2, homes: [1, 2] }))
const rest = { ...goal, undo: false, from: null }

/** Shard 1 never learns of shard 2, which knows shard 1. `greeted`: a greeting is on its way to shard 2. */
function oneSided(greeted: boolean): ObservedDatabase {
  const onItsWay: ClusterNode = {
    id: 'random',
    address: { host: '', port: 2 },
    handshake: true,
    primary: null,
    epoch: 0,
    slots: '',
  }
  const groups = whole.groups.map((group) => ({
    ...group,
    shards: group.shards.map((shard) => {
      if (shard.id !== 1 || !isLive(shard) || shard.engine.cluster === null) return shard
      const known = shard.engine.cluster.nodes.filter(({ id }) => id !== 'node-2')
      const nodes = greeted ? [...known, onItsWay] : known
      return { ...shard, engine: { ...shard.engine, cluster: { ...shard.engine.cluster, nodes } } }
    }),
  }))
  return { groups }
}

/** Turns of a server, one a second. Each greeting is on its way for 5 s, and then it is gone. */
function turns(action: Action | undefined) {
  let now = 0
  const memory = createTurnMemory(() => now)
  const plan = (seen: ObservedDatabase) =>
    planLanes({ database, action, goal: action?.goal ?? rest, seen }, memory, now)
  return {
    memory,
    lastLanes(seconds: number): readonly Lane[] {
      let lanes: readonly Lane[] = []
      for (let n = 0; n < seconds; n += 1) {
        now += 1_000
        lanes = plan(oneSided(n % 5 !== 0))
      }
      return lanes
    },
    whole: () => plan(whole),
  }
}

test('an undo that waits for an introduction which never arrives says so after a while, and names the shard; when it arrives, the undo goes on', async () => {
  const action = { ...runningAction, goal, asked: goal }
  const { lastLanes, memory, whole: arrived } = turns(action)
  const noted = async (lanes: readonly Lane[]) => {
    const news: ActionNews[] = []
    const actions = {
      lanes: async () => [],
      update: async (_: string, more: ActionNews) => void news.push(more),
    }
    await noteAction(action, oneSided(false), lanes, memory, { actions, now: () => 0 })
    return news.at(-1)
  }
  expect((await noted(lastLanes(60)))?.needsPerson).not.toBe(true)
  expect(await noted(lastLanes(60))).toMatchObject({
    holdReason: 'cluster_view',
    waitingFor: expect.stringMatching(
      /shard 2.*for more than 1 min now; see docs\/explain\/cluster-view.md$/,
    ),
    needsPerson: true,
  })
  expect((await noted(arrived()))?.needsPerson).not.toBe(true)
})

test('a database at rest of which one shard never learns of another shows that, and greets on', async () => {
  const { lastLanes, whole: arrived } = turns(undefined)
  const shown = async (lanes: readonly Lane[]) => {
    const obstacles: (string | null)[] = []
    const databases = { setObstacle: async (_: number, why: string | null) => void obstacles.push(why) }
    const log = { error: () => undefined } as never
    await noteObstacle({ database, action: undefined }, lanes, { databases, log })
    return obstacles.at(-1)
  }
  expect(await shown(lastLanes(60))).toBeUndefined()
  const late = lastLanes(66)
  expect(late[0]?.verdict).toMatchObject({ kind: 'do', step: { kind: 'meet' } })
  expect(await shown(late)).toMatch(/shard 2/)
  expect(arrived().map(({ verdict }) => verdict.kind)).toEqual(['done', 'done'])
})

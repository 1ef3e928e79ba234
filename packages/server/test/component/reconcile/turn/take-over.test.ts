import { connectEngine, createEffect, replicationOf } from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { soonInSync } from '../../../../../../proof/spawn-engine.ts'
import { aloneFor } from '../../../../src/core/losses/lost-in-handover.ts'
import { moveRoleInCluster } from '../../../../src/reconcile/handover/move-role-in-cluster.ts'
import { createTakeovers, readClock } from '../../../../src/reconcile/turn/take-over.ts'
import { realTime } from '../../../../src/reconcile/turn/time.ts'
import { ADMIN_PASSWORD, builds, startTestEngine, type TestEngine } from '../../../engine.ts'
import { hasMoved } from '../../../has-moved.ts'
import { meet } from '../../../meet.ts'

const effect = createEffect(() => undefined)
const streaming = [...soonInSync, 'masteruser fairlead', `masterauth ${ADMIN_PASSWORD}`]
const inCluster = ['cluster-enabled yes', ...streaming]
const everySlot = Array.from({ length: 16_384 }, (_, slot) => String(slot))

/** A primary with all slots, and a replica that follows it. */
async function startGroup(build: (typeof builds)[number]) {
  await using stack = new AsyncDisposableStack()
  const primary = stack.use(await startTestEngine(build, inCluster))
  const successor = stack.use(await startTestEngine(build, inCluster))
  await primary.admin.call('CLUSTER', 'ADDSLOTS', ...everySlot)
  const id = String(await primary.admin.call('CLUSTER', 'MYID'))
  await meet(successor.admin, primary.admin, async () =>
    String(await successor.admin.call('CLUSTER', 'NODES')).includes(id),
  )
  await successor.admin.call('CLUSTER', 'REPLICATE', id)
  await until(async () => (await replicationOf(successor.admin)).link === 'up')
  // Each has to know the other as what it is, or the primary takes its successor for a stranger.
  await until(async () => String(await primary.admin.call('CLUSTER', 'NODES')).includes(`slave ${id}`))
  await until(async () => String(await successor.admin.call('CLUSTER', 'NODES')).includes('0-16383'))
  const owned = stack.move()
  return { primary, successor, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function until(check: () => Promise<boolean>) {
  return expect.poll(check, { interval: 20 }).toBe(true)
}

/** A connection of the administrator, which outlasts a stall. */
function connectTo({ admin: { address } }: TestEngine) {
  const login = { username: 'fairlead', password: ADMIN_PASSWORD }
  return connectEngine({ address, login, connectTimeoutMs: 20_000, commandTimeoutMs: 20_000 })
}

async function follow(one: TestEngine, other: TestEngine): Promise<void> {
  const { host, port } = other.admin.address
  await one.admin.call('REPLICAOF', host, port)
  await until(async () => (await replicationOf(one.admin)).link === 'up')
}

function offsetOf({ admin }: TestEngine) {
  return replicationOf(admin).then(({ offset }) => offset)
}

function roleOf({ admin }: TestEngine) {
  return replicationOf(admin).then(({ role }) => role)
}

describe.each(builds)('$flavour $version', (build) => {
  // invariant: The successor refuses an order to take over that arrives after its deadline.
  test('an order to take over is carried out in its time, and refused by the engine itself when it is late, or when its primary has a higher epoch', async () => {
    await using group = await startGroup(build)
    const { primary, successor } = group
    const takeovers = createTakeovers(realTime)
    const clock = await readClock(successor.admin, realTime)
    expect(await takeovers.order(successor.admin, { clock, until: clock.readAt - 1 }, effect)).toBe('late')
    expect(await roleOf(successor)).toBe('replica')

    const times = { clock, until: performance.now() + 60_000 }
    // Its primary says that it has this epoch; the replica has not heard of it.
    expect(await takeovers.order(successor.admin, { ...times, above: 1_000_000 }, effect)).toBe('equal')
    expect(await roleOf(successor)).toBe('replica')

    expect(await takeovers.order(successor.admin, times, effect)).toBe('taken')
    expect(await roleOf(successor)).toBe('primary')
    await until(async () => (await roleOf(primary)) === 'replica')
  })

  test('an old primary that resumes is distinguished from one that had to copy everything again', async () => {
    await using primary = await startTestEngine(build, streaming)
    await using successor = await startTestEngine(build, streaming)
    await follow(successor, primary)
    // A link is up before the whole stream has arrived, and the stream includes pings: with less than its
    // primary, the replica would continue another history.
    await primary.admin.call('CONFIG', 'SET', 'repl-ping-replica-period', 3_600)
    await until(async () => (await offsetOf(primary)) === (await offsetOf(successor)))
    await successor.admin.call('REPLICAOF', 'NO', 'ONE')
    await follow(primary, successor)
    expect(aloneFor(await replicationOf(primary.admin), await replicationOf(successor.admin))).toBe(0)

    // It is replaced and does not know it: its writes from now on are lost when it learns of its successor.
    await primary.admin.call('REPLICAOF', 'NO', 'ONE')
    await primary.admin.call('SET', 'written', 'after')
    await follow(primary, successor)
    expect(aloneFor(await replicationOf(primary.admin), await replicationOf(successor.admin))).toBeNull()
  })

  test('an order that waits in the socket of a stalled engine is void when the engine wakes up later', async () => {
    await using group = await startGroup(build)
    const { successor } = group
    const takeovers = createTakeovers(realTime)
    const { address } = successor.admin
    using second = await connectTo(successor)
    const clock = await readClock(second, realTime)
    successor.signal('SIGSTOP')
    const ordered = takeovers.order(second, { clock, until: performance.now() + 100 }, effect)
    expect(takeovers.areOver(address)).toBe(false)
    await until(async () => takeovers.areOver(address))
    successor.signal('SIGCONT')
    expect(await ordered).toBe('late')
    expect(await roleOf(successor)).toBe('replica')
  })

  test('what scripts write while the role moves is not lost, though some engines do not refuse it', async () => {
    await using group = await startGroup(build)
    const { primary, successor } = group
    using client = await connectTo(primary)
    await until(async () =>
      String(await primary.admin.call('CLUSTER', 'INFO')).startsWith('cluster_state:ok'),
    )
    let acknowledged = 0
    const writing = (async () => {
      const count = "return redis.call('INCR', KEYS[1])"
      for (;;) acknowledged = Number(await client.call('EVAL', count, 1, 'counted'))
    })().catch((cause: Error) => cause.message)
    await until(async () => acknowledged > 100)
    const takeovers = createTakeovers(realTime)
    const move = () => {
      const terms = {
        others: [],
        successorAt: successor.admin.address,
        build,
        errorReplies: 0,
        orders: { give: () => undefined, refused: () => undefined, raiseEpoch: async () => undefined },
        until: performance.now() + 1_500,
      }
      return moveRoleInCluster(
        {
          primary: primary.admin,
          successor: successor.admin,
          ...terms,
          takeClients: async () => null,
        },
        { effect, takeovers, time: realTime },
      )
    }
    // Each time, a script may run between two looks.
    await until(() => hasMoved(group, move))
    expect(await writing).toMatch(/^MOVED /)
    expect(Number(await successor.admin.call('GET', 'counted'))).toBe(acknowledged)
  })
})

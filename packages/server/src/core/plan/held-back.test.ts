import { expect, test } from 'vitest'
import { goalOf, groupOf, old } from '../../../test/simulation/group.ts'
import { isLive, type ObservedGroup } from '../state/topology.ts'
import { planGroup } from './plan-group.ts'

/** A primary that is linked with its replicas, and sends nothing yet to those of these ports. */
function holdsBack(seen: ObservedGroup, ...ports: readonly number[]): ObservedGroup {
  const heldBack = ports.map((port) => ({ host: '', port }))
  const [primary, ...replicas] = seen.shards
  if (primary === undefined || !isLive(primary)) throw new Error('there is no primary')
  return { ...seen, shards: [{ ...primary, engine: { ...primary.engine, heldBack } }, ...replicas] }
}

const asItIs = goalOf({ ...old, replicas: 2 })

// invariant: A follower counts when the stream reaches it, not when its link is up.
test('a database is not complete before its primary sends its stream to each replica, whatever their links say', () => {
  expect(planGroup(groupOf(2), asItIs)).toEqual({ kind: 'done' })
  expect(planGroup(holdsBack(groupOf(2), 3), asItIs)).toEqual({
    kind: 'wait',
    shard: 3,
    code: 'replication',
    why: 'shard 1 does not send its stream to shard 3 yet',
  })
})

test('nothing old is given up while the primary does not send its stream to a shard that is to stay', () => {
  const surplus = goalOf({ ...old, replicas: 1 })
  expect(planGroup(groupOf(2), surplus)).toMatchObject({ step: { kind: 'retire-shard' } })
  expect(planGroup(holdsBack(groupOf(2), 2), surplus)).toMatchObject({ kind: 'wait', shard: 2 })
})

test('a replica of another primary is not waited for', () => {
  expect(planGroup(holdsBack(groupOf(2), 99), asItIs)).toEqual({ kind: 'done' })
})

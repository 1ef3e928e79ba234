import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Build, ShardSpec } from '@fairlead/api'
import { EngineError, EngineUnreachable } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { shardFolder } from '../../../src/folder/shard-folder.ts'
import { connectAs, makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'
import { meet } from '../../meet.ts'

/**
 * A role moved while a shard was away, and the shard learns of it in the worst order: first from the
 * followers, while the new primary is silent. Valkey 8.1 and 9.1 then loop over the circle of followers
 * endlessly, in one instruction, and never answer again (valkey-io/valkey#651, #2441): seen in one of four
 * upgrades in which a successor and the server were killed.
 */
test.for(engines.map(({ flavour, version }) => ({ flavour, version })))(
  'a shard that starts after a role has moved answers, and learns of the move: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const [old, successor, other, away] = await makeShards(home, build)
    const nodesFile = join(shardFolder(home.path, 'away').data, 'nodes.conf')
    const before = await readFile(nodesFile, 'utf8')
    using admin = await connectAs('fairlead', successor)
    await admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
    const successorId = String(await admin.call('CLUSTER', 'MYID'))
    for (const follower of [old, other]) await follow(follower, successor, successorId)

    const silent = await pidOf(home, 'successor')
    const first = await pidOf(home, 'away')
    process.kill(silent, 'SIGSTOP')
    try {
      await writeFile(nodesFile, withoutShardIds(before))
      process.kill(first, 'SIGKILL')
      const isBack = async () => ![0, first].includes(await pidOf(home, 'away'))
      await until(isBack)
      const hears = async () => (await roleOf(away, old)).includes('slave')
      await until(hears)
      // From each follower once more: now the circle, if there is one, is closed, and the next message goes
      // round it.
      const now = Date.now()
      for (const each of [old, other]) await until(async () => pongOf(await roleOf(away, each)) > now)
    } finally {
      process.kill(silent, 'SIGCONT')
    }
    const learned = async () => /master.*0-8191/.test(await roleOf(away, successor))
    await until(learned)
    expect(await pidOf(home, 'away')).not.toBe(first)
  },
)

/** In the format of redis 7.0: the engine that reads it gives each node a shard id of its own. */
function withoutShardIds(text: string): string {
  return text.replaceAll(/,[^ ]*shard-id=[0-9a-f]*/g, '')
}

/** A group of three, and the primary of another group. */
async function makeShards(home: TestHome, build: Build) {
  const adminPassword = 'of-all-of-them'
  const spec = async (id: string) => {
    const wanted = await makeSpec({ build, cluster: true, adminPassword })
    await home.client.putShard({ params: { id }, body: wanted })
    await home.becomes(id, { state: 'running' })
    return wanted
  }
  const [old, successor, other, away] = [
    await spec('old'),
    await spec('successor'),
    await spec('other'),
    await spec('away'),
  ]
  await addSlots(old, 1, 0, 8_191)
  await addSlots(away, 2, 8_192, 16_383)
  await setEpoch(successor, 3)
  await setEpoch(other, 4)
  using admin = await connectAs('fairlead', old)
  const id = String(await admin.call('CLUSTER', 'MYID'))
  const knowsOld = async (each: ShardSpec) => (await roleOf(each, old)).startsWith(id)
  const others = [successor, other, away]
  await meet(admin, others, async () => (await Promise.all(others.map(knowsOld))).every((known) => known))
  for (const each of [successor, other]) {
    await follow(each, old, id)
  }
  // A takeover takes the slots that the successor knows of: it may follow before it has heard of them.
  const known = async () =>
    /master.*0-8191/.test(await roleOf(successor, old)) &&
    (await roleOf(away, successor)).includes(id) &&
    (await roleOf(away, other)).includes(id) &&
    /master.*0-8191/.test(await roleOf(away, old)) &&
    /master.* 2 connected 8192-16383/.test(await roleOf(successor, away))
  await until(known)
  return [old, successor, other, away] as const
}

/** Each has an epoch of its own: they would settle that later, and a takeover meanwhile may come too low. */
async function setEpoch(spec: ShardSpec, epoch: number): Promise<void> {
  using admin = await connectAs('fairlead', spec)
  await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', epoch)
}

async function addSlots(spec: ShardSpec, epoch: number, first: number, last: number): Promise<void> {
  await setEpoch(spec, epoch)
  using admin = await connectAs('fairlead', spec)
  await admin.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: last + 1 - first }, (_, n) => first + n))
}

async function follow(replica: ShardSpec, primary: ShardSpec, id: string): Promise<void> {
  using admin = await connectAs('fairlead', replica)
  // Refused until the replica has heard that it lost its slots, and that the other has them.
  let said = ''
  const ordered = async () => {
    said = String(await admin.call('CLUSTER', 'REPLICATE', id).catch(refusal))
    return said === 'OK'
  }
  await until(ordered, { what: () => said })
  const linked = async () => {
    said = await admin.info('replication')
    return said.includes(`master_port:${primary.port}\r\nmaster_link_status:up`)
  }
  await until(linked, { what: () => said })
}

function refusal(error: unknown): string {
  if (error instanceof EngineError) return error.message
  throw error
}

/** What `by` has in its list of nodes for the shard `of`; '' if nothing, or if it does not answer. */
async function roleOf(by: ShardSpec, of: ShardSpec): Promise<string> {
  try {
    using admin = await connectAs('fairlead', by)
    const lines = String(await admin.call('CLUSTER', 'NODES')).split('\n')
    return lines.find((line) => line.includes(`:${of.port}@`)) ?? ''
  } catch (error) {
    if (error instanceof EngineUnreachable) return ''
    throw error
  }
}

/** When the node of this line last answered, in milliseconds since 1970. */
function pongOf(line: string): number {
  return Number(line.split(' ')[5] ?? 0)
}

async function pidOf(home: TestHome, id: string): Promise<number> {
  const { shards } = await home.client.reportNode({})
  return shards.find((shard) => shard.id === id)?.pid ?? 0
}

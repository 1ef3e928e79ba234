import type { Build, ShardSpec } from '@fairlead/api'
import { compareVersions, type EngineConnection } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'
import { meet } from '../../meet.ts'

const builds: readonly Build[] = engines.map(({ flavour, version }) => ({ flavour, version }))
const persistences = ['disabled', 'aof'] as const

test.for(builds.flatMap((build) => persistences.map((persistence) => ({ ...build, persistence }))))(
  'in cluster mode a restarted shard keeps its role and slots, and resumes: $flavour $version, persistence $persistence',
  async ({ flavour, version, persistence }) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const pair = await makePair(home, { build: { flavour, version }, persistence })
    const { primary, replica } = pair
    const before = await makeReplica(pair)

    await run(home, 'r', { ...replica, revision: 'second' })
    await follows(replica, primary)
    expect(await idOf(replica)).toBe(before.replicaId)
    expect(await syncs(primary)).toEqual({ full: before.full, partial: before.partial + 1 })

    await run(home, 'p', { ...primary, revision: 'second' })
    await follows(replica, primary)
    expect(await idOf(primary)).toBe(before.primaryId)
    // Its count starts again with its process. A snapshot names the history of its data, an AOF does not; a
    // primary of before redis 7 does not ask for it.
    const resumes = persistence === 'disabled' && !isOld({ flavour, version })
    expect(await syncs(primary)).toEqual({ full: resumes ? 0 : 1, partial: resumes ? 1 : 0 })
    using source = await connectAs('fairlead', primary)
    expect(await source.call('DBSIZE')).toBe(1)
  },
)

test.for(builds.slice(0, 1))(
  'in cluster mode a replica that starts again can raise its epoch above that of its primary: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const pair = await makePair(home, { build })
    const { primary, replica } = pair
    await makeReplica(pair)
    using source = await connectAs('fairlead', primary)
    await source.call('CLUSTER', 'BUMPEPOCH')
    const epoch = await epochOf(source)
    const hears = async () => {
      using admin = await connectAs('fairlead', replica)
      return (await epochOf(admin)) === epoch
    }
    await until(hears)
    await run(home, 'r', { ...replica, revision: 'second' })
    await follows(replica, primary)
    using admin = await connectAs('fairlead', replica)
    expect(await admin.call('CLUSTER', 'BUMPEPOCH')).toBe(`BUMPED ${epoch + 1}`)
  },
)

test.for(builds)(
  'in cluster mode roles and replicas move only by order: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build, cluster: true, replicaOf: { host: '127.0.0.1', port: 1 } })
    await run(home, 'a-1', spec)
    using admin = await connectAs('fairlead', spec)
    const wanted = {
      'cluster-enabled': 'yes',
      'cluster-node-timeout': '5000',
      'cluster-replica-no-failover': 'yes',
      'cluster-migration-barrier': '999',
      'cluster-require-full-coverage': 'no',
      // Others end themselves when the disk is full.
      ...(goesOnWithoutDisk(build) && { 'cluster-config-save-behavior': 'best-effort' }),
    }
    for (const [name, value] of Object.entries(wanted))
      expect(await admin.call('CONFIG', 'GET', name)).toEqual([name, value])
    // It follows no primary until the server says so.
    expect(await admin.info('replication')).toContain('role:master')
  },
)

test.for(builds)(
  'in cluster mode the user of the database may read the slot map, and not change it: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({ build, cluster: true })
    await run(home, 'a-1', spec)
    using user = await connectAs('default', spec)
    const asked = ['SLOTS', 'NODES', 'KEYSLOT key', 'INFO', 'MYID', 'COUNTKEYSINSLOT 1']
    const allowed = [...asked, ...(isOld(build) ? [] : ['SHARDS'])].map((rest) => `CLUSTER ${rest}`)
    for (const line of [...allowed, 'READONLY', 'READWRITE', 'ASKING']) {
      const [command = '', ...args] = line.split(' ')
      await user.call(command, ...args)
    }
    const id = 'a'.repeat(40)
    const forbidden = [
      ...['FAILOVER', 'FAILOVER TAKEOVER', 'RESET', `FORGET ${id}`, `REPLICATE ${id}`, 'MEET 127.0.0.1 1'],
      ...[
        'ADDSLOTS 1',
        'DELSLOTS 1',
        'FLUSHSLOTS',
        `SETSLOT 1 NODE ${id}`,
        'SET-CONFIG-EPOCH 1',
        'SAVECONFIG',
      ],
      ...['BUMPEPOCH'],
    ]
    for (const rest of forbidden)
      await expect(user.call('CLUSTER', ...rest.split(' ')), rest).rejects.toThrow('NOPERM')
  },
)

function goesOnWithoutDisk({ flavour, version }: Build): boolean {
  return flavour === 'valkey' && compareVersions(version, '9.1') >= 0
}

/** Of a primary its own, of a replica that of its primary. */
async function epochOf(admin: EngineConnection): Promise<number> {
  return Number(/cluster_my_epoch:(\d+)/.exec(String(await admin.call('CLUSTER', 'INFO')))?.[1])
}

interface Pair {
  readonly primary: ShardSpec
  readonly replica: ShardSpec
}

/** Two shards in cluster mode that know each other; the primary has all slots. */
async function makePair(home: TestHome, wanted: Partial<ShardSpec>): Promise<Pair> {
  const snapshots = [{ secs: 3600, writes: 1 }]
  const primary = await makeSpec({ ...wanted, snapshots, cluster: true })
  const { adminPassword, userPassword, host, port } = primary
  const follower = { ...wanted, snapshots, cluster: true, adminPassword, userPassword }
  const replica = await makeSpec({ ...follower, replicaOf: { host, port } })
  await run(home, 'p', primary)
  await run(home, 'r', replica)
  using source = await connectAs('fairlead', primary)
  await source.call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot))
  const primaryId = String(await source.call('CLUSTER', 'MYID'))
  using admin = await connectAs('fairlead', replica)
  await meet(source, [replica], async () => String(await admin.call('CLUSTER', 'NODES')).includes(primaryId))
  return { primary, replica }
}

/** As the server would do it: the order to follow, and the AOF once the data is there. */
async function makeReplica({ primary, replica }: Pair) {
  const primaryId = await idOf(primary)
  using source = await connectAs('fairlead', primary)
  using admin = await connectAs('fairlead', replica)
  await admin.call('CLUSTER', 'REPLICATE', primaryId)
  await follows(replica, primary)
  await servesSlots(primary)
  await source.call('SET', 'key', 'value')
  if (replica.persistence === 'aof') await switchOnAof(admin)
  return { primaryId, replicaId: await idOf(replica), ...(await syncs(primary)) }
}

async function switchOnAof(admin: EngineConnection): Promise<void> {
  await admin.call('CONFIG', 'SET', 'appendonly', 'yes')
  const written = async () =>
    /aof_enabled:1\r\naof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/.test(
      await admin.info('persistence'),
    )
  await until(written)
}

async function follows(replica: ShardSpec, primary: ShardSpec): Promise<void> {
  using admin = await connectAs('fairlead', replica)
  let text = ''
  const linked = async () => {
    text = await admin.info('replication')
    return text.includes(`master_port:${primary.port}\r\nmaster_link_status:up`)
  }
  await until(linked, { what: () => text })
}

/** A primary in cluster mode serves nothing for its first two seconds. */
async function servesSlots(spec: ShardSpec): Promise<void> {
  using admin = await connectAs('fairlead', spec)
  const info = async () => String(await admin.call('CLUSTER', 'INFO'))
  const serves = async () => /cluster_state:ok\r\ncluster_slots_assigned:16384\r\n/.test(await info())
  await until(serves)
}

async function syncs(spec: ShardSpec): Promise<{ readonly full: number; readonly partial: number }> {
  using admin = await connectAs('fairlead', spec)
  const text = await admin.info('stats')
  const count = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1])
  return { full: count('sync_full'), partial: count('sync_partial_ok') }
}

async function idOf(spec: ShardSpec): Promise<string> {
  using admin = await connectAs('fairlead', spec)
  return String(await admin.call('CLUSTER', 'MYID'))
}

/** Puts the shard and waits until it runs with this spec. */
async function run(home: TestHome, id: string, spec: ShardSpec): Promise<void> {
  await home.client.putShard({ params: { id }, body: spec })
  await home.becomes(id, { state: 'running', revision: spec.revision })
}

function isOld({ flavour, version }: Build): boolean {
  return flavour === 'redis' && compareVersions(version, '7.0') < 0
}

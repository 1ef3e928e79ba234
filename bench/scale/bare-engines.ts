import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ShardSpec } from '@fairlead/api'
import { connectEngine } from '@fairlead/engine'
import { pino } from 'pino'
import { openEngineWall } from '../../packages/agent/src/engine/engine-wall.ts'
import { prepareFolder, startProcess } from '../../packages/agent/src/engine/start-process.ts'
import { shardFolder } from '../../packages/agent/src/folder/shard-folder.ts'
import { signalProcess } from '../../packages/agent/src/process/process-identity.ts'
import { enginesFolder } from '../../proof/engines-folder.ts'
import { spawnEngine } from '../../proof/spawn-engine.ts'
import { until } from '../../proof/until.ts'
import { newestPair } from '../upgrade/newest-pair.ts'
import { sideBySide } from './side-by-side.ts'

const FIRST_PORT = 19_000

/** Starts engines with few settings, this many at a time, until each answers. Answers milliseconds. */
export async function startBare(count: number, atOnce: number): Promise<number> {
  await using engines = new AsyncDisposableStack()
  const { to: build } = newestPair()
  const began = performance.now()
  await sideBySide(count, atOnce, async (n) => {
    const port = FIRST_PORT + n
    engines.use(await spawnEngine(build, { lines: [`port ${port}`, 'bind 127.0.0.1', 'save ""'] }))
    await until(`the engine at ${port} answers`, () => answers(port))
  })
  return performance.now() - began
}

/**
 * The same with the configuration, the users and the wall of a shard, as an agent starts it: the minimum for
 * a database.
 */
export async function startWithinWalls(count: number, atOnce: number): Promise<number> {
  await using opened = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'fairlead-walls-'))
  opened.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const wall = await openEngineWall(home, true, pino({ level: 'error' }))
  const { to: name } = newestPair()
  const [flavour, version = ''] = name.split('-')
  const program = join(enginesFolder(), name, 'bin', `${flavour}-server`)
  const began = performance.now()
  await sideBySide(count, atOnce, async (n) => {
    const port = FIRST_PORT + n
    const folder = shardFolder(home, `w${n}`)
    await prepareFolder(folder, specOf({ flavour: flavour as 'valkey', version }, port), false)
    const { identity } = await startProcess(folder, { program, modules: [], ranOutside: false }, wall)
    opened.defer(async () => {
      signalProcess(identity, 'SIGKILL')
    })
    await until(`the engine at ${port} answers`, () => answers(port))
  })
  return performance.now() - began
}

function specOf(build: ShardSpec['build'], port: number): ShardSpec {
  return {
    build,
    cluster: false,
    tls: null,
    rdbVersionCheck: 'strict',
    revision: 'bare',
    host: '127.0.0.1',
    port,
    replicaOf: null,
    onCrash: 'restart',
    memoryBytes: 0,
    evictionPolicy: 'noeviction',
    persistence: 'disabled',
    aofFsync: 'everysec',
    snapshots: [],
    backlogBytes: 1_048_576,
    modules: [],
    adminPassword: `admin-of-${port}`,
    userPassword: `user-of-${port}`,
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    const login = { username: 'default', password: 'any' }
    using connection = await connectEngine({ address: { host: '127.0.0.1', port }, login })
    return connection.usable
  } catch (cause) {
    // With a wrong password, an engine refuses commands: that is an answer, too.
    return cause instanceof Error && cause.cause instanceof Error && cause.cause.name === 'EngineError'
  }
}

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { ENGINE_USERS, PROXY_USERS } from '@fairlead/engine'
import pino from 'pino'
import { expect, test } from 'vitest'
import { shardFolder } from '../../../src/folder/shard-folder.ts'
import { findEngineProcess, identifyProcess, isAlive } from '../../../src/process/process-identity.ts'
import { isProcessOf } from '../../../src/process/works-in-folder.ts'
import { proxyFolder } from '../../../src/proxy/proxy-folder.ts'
import { clearTrials, trialFolder } from '../../../src/trials/trial-folder.ts'
import { makeHome, until } from '../../agent-home.ts'

const main = fileURLToPath(new URL('../../../../proxy/src/main.ts', import.meta.url))
const proxyProgram = [process.execPath, '--conditions=@fairlead/source', main]
/** Another user of the machine, if the test can become it. */
const stranger = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
/**
 * Both kinds of namespace that a process may have: of another user, as any user may make it, and of our user.
 */
const kinds = [
  { whose: 'of another user', flags: '-Urm', as: stranger },
  { whose: 'of our own user', flags: process.geteuid?.() === 0 ? '-m' : '-Urm', as: {} },
]
const allowed = kinds.filter(
  ({ flags, as }) =>
    spawnSync('unshare', [flags, 'mount', '-t', 'tmpfs', 'none', tmpdir()], { cwd: '/', ...as }).status === 0,
)

// invariant: A process is recognized by its user and working folder, not by its name.
test.each(allowed)(
  'a process $whose that only imitates names and paths of Fairlead is adopted neither as proxy nor as engine or trial',
  async ({ flags, as }) => {
    await using home = await makeHome()
    const proxy = proxyFolder(home.path)
    const shard = shardFolder(`${home.path}/shards`, 'a-1')
    const trial = trialFolder(home.path, 7_000)
    for (const folder of [proxy, shard, trial]) await folder.create()
    await using asProxy = await startImpostor(proxy.path, ['--home', proxy.path], flags, as)
    await using asEngine = await startImpostor(shard.path, [shard.conf], flags, as)
    await using asTrial = await startImpostor(trial.path, [trial.conf], flags, as)

    expect(proxy.find()).toBeNull()
    expect(findEngineProcess(shard.path, shard.conf, 7_000)).toBeNull()
    await clearTrials(home.path, pino({ level: 'silent' }))
    const agent = await home.start({ proxyProgram })
    try {
      await until(async () => (await agent.report()).proxy?.state === 'running')
      const pid = (await agent.report()).proxy?.pid ?? 0
      expect(pid).not.toBe(asProxy.pid)
      // The right process is still found.
      expect(proxy.find()?.pid).toBe(pid)
    } finally {
      const found = proxy.find()
      await agent[Symbol.asyncDispose]()
      if (found !== null) process.kill(found.pid, 'SIGKILL')
    }
    for (const each of [asProxy, asEngine, asTrial]) expect(each.runs()).toBe(true)
  },
)

test('a process belongs to a folder by its user and by the folder itself', () => {
  const self = process.geteuid?.() ?? 0
  const ours = { dev: 8n, ino: 100n }
  expect(isProcessOf(self, { uid: self, cwd: ours, ours })).toBe(true)
  expect(isProcessOf(self, { uid: 65_534, cwd: ours, ours })).toBe(false)
  expect(isProcessOf(65_534, { uid: 65_534, cwd: ours, ours })).toBe(true)
  expect(isProcessOf(self, { uid: self, cwd: { ...ours, ino: 101n }, ours })).toBe(false)
  // The same number in another file system.
  expect(isProcessOf(self, { uid: self, cwd: { ...ours, dev: 9n }, ours })).toBe(false)
  for (const uid of [ENGINE_USERS.first + 1, PROXY_USERS.first + 1])
    expect(isProcessOf(self, { uid, cwd: ours, ours })).toBe(self === 0)
})

/**
 * A process whose folder has the path `at`, in a file system that it has made over ours, and that was given
 * `args`.
 */
async function startImpostor(
  at: string,
  args: readonly string[],
  flags: string,
  as: { readonly uid?: number; readonly gid?: number },
) {
  const script = `mount -t tmpfs none '${tmpdir()}' && mkdir -p '${at}' && cd '${at}' && exec sh -c 'echo there; sleep 60; true' "$@"`
  const child = spawn('unshare', [flags, 'sh', '-c', script, 'sh', ...args], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    ...as,
  })
  const pid = child.pid ?? 0
  const ended = once(child, 'exit')
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) })
  expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(at)
  const identity = identifyProcess(pid)
  return {
    pid,
    runs: () => identity !== null && isAlive(identity),
    async [Symbol.asyncDispose]() {
      process.kill(-pid, 'SIGKILL')
      await ended
    },
  }
}

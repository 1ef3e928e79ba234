import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@fairlead/server'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claimPorts } from '../../../../../proof/claim-ports.ts'
import { until } from '../../../../../proof/until.ts'
import { proxyProgram } from '../../../src/commands/agent.ts'

let home: string
let proxy: ChildProcess | undefined
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'fairlead-'))
})
afterEach(async () => {
  if (proxy !== undefined) {
    const ended = once(proxy, 'exit')
    proxy.kill('SIGKILL')
    await ended
  }
  proxy = undefined
  await rm(home, { recursive: true })
})

/** Starts the proxy of this environment. Returns a function that reads the TCP ports at which it listens. */
async function startWith(environment: Readonly<Record<string, string>>): Promise<() => readonly number[]> {
  const [node = '', ...args] = proxyProgram(loadConfig(environment))
  proxy = spawn(node, [...args, '--home', home], { stdio: 'ignore' })
  const { pid } = proxy
  // Its own socket comes last.
  await until('the proxy serves its socket', () => existsSync(join(home, 'proxy.sock')), {
    withinMs: 120_000,
  })
  return () => portsOf(pid)
}

function portsOf(pid: number | undefined): readonly number[] {
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)))
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === '0A' && own.has(`socket:[${inode}]`))
      .map(([, place = '']) => Number.parseInt(place.split(':')[1] ?? '', 16)),
  )
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // closed meanwhile
  }
}

test('unless it is asked for, no process answers as a Sentinel, which tells all local processes the names and ports of all databases', async () => {
  const ports = await startWith({})
  expect(ports()).toEqual([])
})

test('if it is asked for, the proxy answers as a Sentinel at that port', async () => {
  await using claimed = await claimPorts()
  const ports = await startWith({ FAIRLEAD_SENTINEL_PORT: String(claimed.from) })
  // A port that is taken at that moment is tried again.
  const seen = await until('it listens', () => {
    const now = ports()
    return now.length > 0 && now
  })
  expect(seen).toEqual([claimed.from])
})

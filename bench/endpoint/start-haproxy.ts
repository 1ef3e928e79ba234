import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { FetchError, fetchFile } from '@fairlead/agent'
import { dial, freePort } from '../../packages/proxy/test/stage.ts'
import { until } from '../../proof/until.ts'

/** HAProxy before engines. Disposing of it ends it. */
export interface Haproxy extends AsyncDisposable {
  /** One port for each engine, in their order. */
  readonly ports: readonly number[]
  readonly pid: number
}

const SUITE = 'bookworm'
const machine = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu'
/** The packages of the program, and of the libraries that not every machine has. */
const files: Readonly<Record<string, string>> = {
  haproxy: 'usr/sbin/haproxy',
  'liblua5.3-0': `usr/lib/${machine}/liblua5.3.so.0`,
  'libopentracing-c-wrapper0': `usr/lib/${machine}/libopentracing-c-wrapper.so.0`,
  libopentracing1: `usr/lib/${machine}/libopentracing.so.1`,
}
const folder = join(import.meta.dirname, '../../.fairlead/bench/haproxy')

/** Fetches HAProxy from Debian, unless it is there. Returns why that failed; null when HAProxy is there. */
export async function fetchHaproxy(say: (sentence: string) => void): Promise<string | null> {
  try {
    for (const [packageName, path] of Object.entries(files)) {
      const to = join(folder, basename(path))
      if (existsSync(to)) continue
      say(`fetching ${packageName} of ${SUITE}`)
      await fetchFile({ suite: SUITE, packageName, path, to })
    }
    return null
  } catch (cause) {
    if (cause instanceof FetchError) return cause.message
    throw cause
  }
}

/** `threads` null: HAProxy's default, one thread for each processor. */
export async function startHaproxy(enginePorts: readonly number[], threads: number | null): Promise<Haproxy> {
  const place = await mkdtemp(join(tmpdir(), 'fairlead-haproxy-'))
  const ports: number[] = []
  for (const _ of enginePorts) ports.push(await freePort())
  const config = join(place, 'haproxy.cfg')
  await writeFile(config, configure(ports, enginePorts, threads))
  const child = spawn(join(folder, 'haproxy'), ['-db', '-f', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { LD_LIBRARY_PATH: folder },
  })
  // HAProxy is killed also if the bench ends with an error.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const end = async () => {
    process.off('exit', kill)
    await stop(child)
    await rm(place, { recursive: true, force: true })
  }
  try {
    await until('HAProxy answers', async () => (await Promise.all(ports.map(answers))).every(Boolean))
  } catch (cause) {
    await end()
    throw cause
  }
  return { ports, pid: child.pid ?? 0, [Symbol.asyncDispose]: end }
}

function configure(ports: readonly number[], enginePorts: readonly number[], threads: number | null): string {
  const listeners = ports.map(
    (port, n) => `listen engine${n}
  bind 127.0.0.1:${port}
  server engine 127.0.0.1:${enginePorts[n]}
`,
  )
  return `global
${threads === null ? '' : `  nbthread ${threads}\n`}defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
${listeners.join('')}`
}

async function answers(port: number): Promise<boolean> {
  try {
    await using client = await dial(port)
    client.send('PING\r\n')
    await until('something', () => client.text() !== '' || client.ended())
    return client.text() !== '' // any answer counts, also the error that a login is needed
  } catch {
    return false
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

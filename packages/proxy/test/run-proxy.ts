import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, createClient, proxyOperations, type Transport } from '@fairlead/api'
import { nodeFlags } from '../../cli/src/parts/node-flags.ts'
import { until } from './stage.ts'

/** Node's arguments for the proxy, the same as in the product. */
export const proxyFlags: readonly string[] = nodeFlags('proxy')

export interface RunningProxy extends AsyncDisposable {
  readonly home: string
  readonly client: Client<typeof proxyOperations>
  process(): ChildProcess
  /** The log of all its processes so far. */
  log(): string
  /** Starts it again after it has died. */
  start(): Promise<void>
}

/**
 * The proxy as a program of its own, in a home of its own; its Sentinel answerer runs only if it gets a port.
 */
export async function runProxy({
  sentinelPort = 0,
  workers = 1,
  nodeFlags = [],
  env = {},
}: {
  readonly sentinelPort?: number
  readonly workers?: number
  readonly nodeFlags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
} = {}): Promise<RunningProxy> {
  const home = await mkdtemp(join(tmpdir(), 'proxy-'))
  const client = createClient(proxyOperations, socketTransport(join(home, 'proxy.sock')))
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  let child: ChildProcess | undefined
  let log = ''
  const running: RunningProxy = {
    home,
    client,
    process() {
      if (child === undefined) throw new Error('not started')
      return child
    },
    log: () => log,
    async start() {
      const sentinel = ['--sentinel-port', String(sentinelPort)]
      const args = [main, '--home', home, ...sentinel, '--workers', String(workers)]
      child = spawn(process.execPath, [...nodeFlags, '--conditions=@fairlead/source', ...args], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, ...env },
      })
      const { pid, stderr } = child
      stderr?.on('data', (text: Buffer) => {
        log += text.toString('utf8')
        process.stderr.write(text)
      })
      const answers = () =>
        client.reportProxy({}).then(
          (report) => report.pid === pid,
          () => false,
        )
      await until(answers, () => 'the proxy does not answer')
    },
    async [Symbol.asyncDispose]() {
      if (child !== undefined && child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await rm(home, { recursive: true, force: true })
    },
  }
  await running.start()
  return running
}

/** Speaks to a proxy at its socket. */
export function socketTransport(socketPath: string): Transport {
  return ({ method, path, headers, body }) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const sent = request({ socketPath, method, path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end(body)
    return promise
  }
}

import { execFileSync, spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { join } from 'node:path'
import { messageOf } from '@fairlead/engine'
import type { Login } from '../../proof/clients/clients.ts'
import type { Findings } from '../../proof/clients/work.ts'

/** A network namespace with a cable to this machine: as another machine to its clients. */
export interface OtherMachine extends Disposable {
  /** This machine's addresses at the cable. */
  readonly addresses: { readonly ipv4: string; readonly ipv6: string }
  /** Starts clients there (proof/clients/work.ts). */
  startWork(library: string, login: Login): Promise<RemoteWork>
}

export interface RemoteWork extends AsyncDisposable {
  answers(): Promise<number>
  stop(): Promise<Findings>
}

/** Only root may make one, and not in every container: then it is the reason, a text. */
export function connectOtherMachine(): OtherMachine | string {
  // Networks for measurements (RFC 2544) and for private use (RFC 4193).
  const number = process.pid % 16_384
  const name = `fairlead-${number}`
  const cable = [`fl${number}a`, `fl${number}b`] as const
  const at = (host: number) => ({
    ipv4: `198.18.${number >> 6}.${(number & 63) * 4 + host}`,
    ipv6: `fd00:f1:${number.toString(16)}::${host}`,
  })
  const ip = (...args: readonly string[]) => execFileSync('ip', args, { stdio: 'pipe' })
  const end = () => {
    // The cable goes with the namespace.
    try {
      ip('netns', 'delete', name)
    } catch {
      // It was not made.
    }
  }
  try {
    ip('netns', 'add', name)
    ip('link', 'add', cable[0], 'type', 'veth', 'peer', 'name', cable[1], 'netns', name)
    const within = ['netns', 'exec', name, 'ip']
    for (const [prefix, link, host] of [
      [[], cable[0], 1],
      [within, cable[1], 2],
    ] as const) {
      const { ipv4, ipv6 } = at(host)
      ip(...prefix, 'address', 'add', `${ipv4}/30`, 'dev', link)
      ip(...prefix, '-6', 'address', 'add', `${ipv6}/64`, 'dev', link, 'nodad')
      ip(...prefix, 'link', 'set', link, 'up')
    }
  } catch (cause) {
    end()
    return `no network namespace can be made here: ${messageOf(cause).trim()}`
  }
  return {
    addresses: at(1),
    startWork: (library, login) => startWork(['ip', 'netns', 'exec', name], library, login),
    [Symbol.dispose]: end,
  }
}

async function startWork(within: readonly string[], library: string, login: Login): Promise<RemoteWork> {
  const [program = '', ...before] = within
  const main = join(import.meta.dirname, 'remote-work.ts')
  const child = spawn(program, [...before, process.execPath, '--conditions=@fairlead/source', main], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error('the clients of the other machine have ended')
  })
  ended.catch(() => undefined)
  const answers = on(child, 'message')
  const ask = async <T>(question: object): Promise<T> => {
    child.send(question)
    const { value = [] } = await Promise.race([answers.next(), ended])
    return value[0] as T
  }
  await ask({ begin: library, login })
  return {
    answers: () => ask({ answers: true }),
    stop: () => ask({ stop: true }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

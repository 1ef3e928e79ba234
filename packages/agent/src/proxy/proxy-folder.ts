import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { TURNS_SOCKET } from '@fairlead/api'
import { codeOf } from '@fairlead/engine'
import { type Static, Type } from 'typebox'
import { parseAs } from '../process/check-schema.ts'
import { writeDurably } from '../process/durable-file.ts'
import { findProcess, type ProcessIdentity } from '../process/process-identity.ts'

/** The last process of the proxy: written before it is started, once its pid is known, when it first answers, at its end. */
const ProxyRecord = Type.Object({
  /** Null until it was started. */
  identity: Type.Union([
    Type.Object({ pid: Type.Integer(), startTime: Type.String(), bootId: Type.String() }),
    Type.Null(),
  ]),
  /** The command that started it; empty when not known. */
  program: Type.Array(Type.String()),
  /** Of our software; empty when not known. */
  version: Type.String(),
  /** Unix milliseconds, as all times here. */
  startedAt: Type.Integer(),
  answeredAt: Type.Union([Type.Integer(), Type.Null()]),
  /** Where in proxy.log its own lines begin, in bytes. */
  logFrom: Type.Integer(),
  /** `stopped`: on order. `died`: anything else. Null: as far as we know it runs. */
  ended: Type.Union([
    Type.Object({ at: Type.Integer(), how: Type.Enum(['stopped', 'died']), why: Type.String() }),
    Type.Null(),
  ]),
  /** Deaths since it was last stopped on order. */
  crashes: Type.Integer(),
  /** Deaths since it last was healthy for a while: what the back-off counts. */
  streak: Type.Integer(),
  /** When and why the one before died; absent when it did not. */
  diedBefore: Type.Optional(Type.Object({ at: Type.Integer(), why: Type.String() })),
})
/** The proxy process that was started last, as its file holds it. */
export type ProxyRecord = Static<typeof ProxyRecord>

/** The home of the proxy of a node: its socket, its log, what it serves (its own files), and which process it is. */
export interface ProxyFolder {
  readonly path: string
  /** Of a proxy with a user of its own: its own files, and nothing else. It lies within `path`, which the proxy cannot enter. */
  readonly own: string
  /** A link where the socket is in `own`. */
  readonly socket: string
  /** Of its heartbeat thread; a link, too. */
  readonly turnsSocket: string
  readonly log: string
  /** Makes the folder (0700). */
  create(): Promise<void>
  /** Null when there is none. Throws when the file cannot be understood. */
  read(): Promise<ProxyRecord | null>
  write(record: ProxyRecord): Promise<void>
  /** The process that was started on this folder, recorded or not; null when there is none. */
  find(): ProcessIdentity | null
}

/** The folder of the proxy under `home`. Touches nothing yet. */
export function proxyFolder(home: string): ProxyFolder {
  const path = join(resolve(home), 'proxy')
  const own = join(path, 'own')
  const file = join(path, 'process.json')
  return {
    path,
    own,
    socket: join(path, 'proxy.sock'),
    turnsSocket: join(path, TURNS_SOCKET),
    log: join(path, 'proxy.log'),
    async create() {
      await mkdir(path, { recursive: true, mode: 0o700 })
    },
    async read() {
      const text = await readFile(file, 'utf8').catch((cause: unknown) => {
        if (codeOf(cause) === 'ENOENT') return null
        throw cause
      })
      if (text === null) return null
      try {
        return parseAs(ProxyRecord, text)
      } catch (cause) {
        throw new Error(`${file} cannot be understood`, { cause })
      }
    },
    write: (record) => writeDurably(file, `${JSON.stringify(record, null, 2)}\n`),
    find: () => findProcess(path, (args) => [path, own].includes(args[args.indexOf('--home') + 1] ?? '')),
  }
}

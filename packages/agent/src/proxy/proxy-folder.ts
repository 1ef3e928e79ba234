import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { TURNS_SOCKET } from '@fairlead/api'
import { codeOf } from '@fairlead/engine'
import { type Static, Type } from 'typebox'
import { parseAs } from '../process/check-schema.ts'
import { writeDurably } from '../process/durable-file.ts'
import { findProcess, type ProcessIdentity } from '../process/process-identity.ts'

/** The last process of the proxy: written before its start, with its pid, at its first answer, at its end. */
const ProxyRecord = Type.Object({
  /** Null until it was started. */
  identity: Type.Union([
    Type.Object({ pid: Type.Integer(), startTime: Type.String(), bootId: Type.String() }),
    Type.Null(),
  ]),
  /** Command that started it; empty if unknown. */
  program: Type.Array(Type.String()),
  /** Version of our software; empty if unknown. */
  version: Type.String(),
  /** Unix ms, as all times here. */
  startedAt: Type.Integer(),
  answeredAt: Type.Union([Type.Integer(), Type.Null()]),
  /** Position of its first line in proxy.log, in bytes. */
  logFrom: Type.Integer(),
  /** `stopped`: on order. `died`: anything else. Null: as far as known, it runs. */
  ended: Type.Union([
    Type.Object({ at: Type.Integer(), how: Type.Enum(['stopped', 'died']), why: Type.String() }),
    Type.Null(),
  ]),
  /** Deaths since it was last stopped on order. */
  crashes: Type.Integer(),
  /** Deaths since it was last healthy for a while, for the back-off. */
  streak: Type.Integer(),
  /** Time and reason of the previous process's death; absent if it did not die. */
  diedBefore: Type.Optional(Type.Object({ at: Type.Integer(), why: Type.String() })),
})
/** The last started process of the proxy, as in its file. */
export type ProxyRecord = Static<typeof ProxyRecord>

/** The home of a node's proxy: its socket, its log, its files, and the record of its process. */
export interface ProxyFolder {
  readonly path: string
  /** Folder for the files of a proxy with a separate user, within `path`, which the proxy cannot enter. */
  readonly own: string
  /** A link if the socket is in `own`. */
  readonly socket: string
  /** Socket of its heartbeat thread, or a link to it. */
  readonly turnsSocket: string
  readonly log: string
  /** Makes the folder (0700). */
  create(): Promise<void>
  /** Null if there is none. Throws if the file is invalid. */
  read(): Promise<ProxyRecord | null>
  write(record: ProxyRecord): Promise<void>
  /** Returns the process that was started on this folder, recorded or not; null if there is none. */
  find(): ProcessIdentity | null
}

/** Returns the folder of the proxy under `home`, without touching it. */
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

import { createHash } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { hostname } from 'node:os'
import type { SentinelReport } from '@fairlead/api/of-proxies'
import { isSameAddress, messageOf } from '@fairlead/engine'
import { createAllowance } from '../forwarding/turns.ts'
import type { Admission } from '../listen/admission.ts'
import type { SentinelDatabase } from './sentinel-answers.ts'
import { type SentinelClient, serveSentinelClient } from './sentinel-clients.ts'

/** Answers like a Sentinel: clients ask for the primary and then connect to its shard, not to an endpoint. */
export interface Sentinel extends AsyncDisposable {
  /** Called after a possible change: subscribers to `+switch-master` get a message for each new primary. */
  look(): void
  report(): SentinelReport
}

const LISTEN_AGAIN_MS = 500
/**
 * Limit of clients. An application has one or two for each process. There is no login: a client beyond the
 * limit replaces the one that has been silent for longest.
 */
const MOST_CLIENTS = 1_000
/** Part of all places for subscribers, which keep them. The rest is for clients that ask. */
const MAY_LISTEN = 0.75

interface SentinelOptions {
  readonly host: string
  readonly port: number
  readonly admission: Admission
  readonly databases: () => readonly SentinelDatabase[]
  readonly onTrouble: (why: string) => void
}

/**
 * Listens, and retries: a taken port is in the report and is passed to `onTrouble` once for each reason.
 * `databases` returns the present databases; for a repeated name the first counts.
 */
export async function openSentinel(options: SentinelOptions): Promise<Sentinel> {
  const { host, port, admission } = options
  const clients = new Set<SentinelClient>()
  const allowance = createAllowance()
  const id = createHash('sha1').update(`${hostname()}:${host}:${port}`).digest('hex')
  const listed = () => firstOfEachName(options.databases())
  let told = listed()
  let lastClient = 0

  const leave = (client: SentinelClient) => {
    if (clients.delete(client)) admission.open -= 1
  }
  const admit = (socket: Socket): void => {
    if (clients.size >= MOST_CLIENTS || admission.open >= admission.most) {
      const silent = longestSilent(clients)
      if (silent === undefined) {
        refuse(socket)
        return
      }
      leave(silent)
      silent.end()
    }
    lastClient += 1
    const client = serveSentinelClient(socket, lastClient, allowance, () => ({
      databases: listed(),
      port,
      id,
      mayListen: () => countListening(clients) < MAY_LISTEN * Math.min(MOST_CLIENTS, admission.most),
    }))
    clients.add(client)
    admission.open += 1
    // The set is in the order of the clients' last requests.
    socket.on('data', () => clients.delete(client) && clients.add(client))
    socket.on('close', () => leave(client))
  }

  const listening = await keepListening(options, admit)
  return {
    look() {
      const now = listed()
      for (const { name, primary: to } of now) {
        const from = told.find((each) => each.name === name)?.primary
        if (from === undefined || isSameAddress(from, to)) continue
        const text = [name, from.host, from.port, to.host, to.port].join(' ')
        for (const client of clients) client.publish('+switch-master', text)
      }
      told = now
    },
    report: () => ({
      host,
      port,
      state: listening.isUp ? 'serving' : 'failed',
      why: listening.why,
      connections: clients.size,
      databases: listed().length,
    }),
    async [Symbol.asyncDispose]() {
      listening.stop()
      for (const client of clients) client.end()
      await listening.close()
    },
  }
}

function refuse(socket: Socket): void {
  socket
    .on('error', () => undefined)
    .end('-ERR max number of clients reached\r\n')
    .destroySoon()
}

/** Returns the longest silent client without a subscription. `clients`: in the order of last requests. */
function longestSilent(clients: ReadonlySet<SentinelClient>): SentinelClient | undefined {
  return [...clients].find((client) => !client.listens())
}

function countListening(clients: ReadonlySet<SentinelClient>): number {
  let count = 0
  for (const client of clients) if (client.listens()) count += 1
  return count
}

interface Listening {
  readonly isUp: boolean
  /** Reason for not listening; empty while this process has the port. */
  readonly why: string
  /** Stops trying to get the port. */
  stop(): void
  /** Accepts no more clients. Resolves when the last one has gone. */
  close(): Promise<void>
}

async function keepListening(
  { host, port, onTrouble }: SentinelOptions,
  admit: (socket: Socket) => void,
): Promise<Listening> {
  let server: Server | null = null
  let why = ''
  let timer: NodeJS.Timeout | undefined
  const listen = async (): Promise<void> => {
    try {
      server = await openServer(host, port, admit)
      why = ''
    } catch (cause) {
      const reason = messageOf(cause)
      if (reason !== why) onTrouble(reason)
      why = reason
      timer = setTimeout(() => void listen(), LISTEN_AGAIN_MS)
    }
  }
  await listen()
  return {
    get isUp() {
      return server !== null
    },
    get why() {
      return why
    },
    stop: () => clearTimeout(timer),
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (server === null) resolve()
      else server.close(() => resolve())
      await promise
    },
  }
}

function firstOfEachName(databases: readonly SentinelDatabase[]): readonly SentinelDatabase[] {
  return [...new Map(databases.toReversed().map((each) => [each.name, each])).values()].toReversed()
}

async function openServer(host: string, port: number, admit: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 300_000 }, admit)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host, port }, () => resolve())
  await promise
  server.off('error', reject)
  server.on('error', () => undefined)
  return server
}

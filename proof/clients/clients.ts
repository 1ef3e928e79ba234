import { Batch, GlideClient, type GlideClientConfiguration } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { createClient } from 'redis'

/** The address of a database for a client, and the user for its login. */
export interface Login {
  readonly host: string
  readonly port: number
  readonly password: string
  /** Speaks TLS to a server with a certificate of this authority (PEM) for the host's name. */
  readonly tls?: { readonly ca: string }
}

/** The functions of a client library that tests use, whatever the library calls them. */
export interface Client {
  call(...words: readonly string[]): Promise<unknown>
  /** These commands in one transaction; their answers. */
  transaction(commands: readonly (readonly string[])[]): Promise<readonly unknown[]>
  close(): Promise<void>
}

export interface Library {
  connect(login: Login): Promise<Client>
  /** On a connection of its own. */
  subscribe(
    login: Login,
    channel: string,
    onMessage: (message: string) => void,
  ): Promise<Pick<Client, 'close'>>
}

/** Unmodified libraries with their own defaults. */
export const libraries: Readonly<Record<string, Library>> = {
  ioredis: ofRedis((login) => new Redis({ ...login, username: 'default' })),
  iovalkey: ofRedis((login) => new Valkey({ ...login, username: 'default' })),
  'node-redis': {
    async connect(login) {
      const client = await openRedis(login)
      return {
        call: (...words) => client.sendCommand(words),
        async transaction(commands) {
          const multi = client.multi()
          for (const words of commands) multi.addCommand([...words])
          return multi.exec()
        },
        close: async () => client.destroy(),
      }
    },
    async subscribe(login, channel, onMessage) {
      const client = await openRedis(login)
      await client.subscribe(channel, onMessage)
      return { close: async () => client.destroy() }
    },
  },
  'valkey-glide': {
    async connect(login) {
      const client = await GlideClient.createClient(glideConfiguration(login))
      return {
        call: (...words) => client.customCommand([...words]),
        async transaction(commands) {
          const batch = new Batch(true)
          for (const words of commands) batch.customCommand([...words])
          return (await client.exec(batch, true)) ?? []
        },
        close: async () => client.close(),
      }
    },
    async subscribe(login, channel, onMessage) {
      const client = await GlideClient.createClient({
        ...glideConfiguration(login),
        pubsubSubscriptions: {
          channelsAndPatterns: { 0: new Set([channel]) },
          callback: ({ message }) => onMessage(String(message)),
        },
      })
      return { close: async () => client.close() }
    },
  },
}

function ofRedis(open: (login: Login) => Redis | Valkey): Library {
  const quiet = (login: Login) => {
    const client = open(login)
    client.on('error', () => undefined) // the call that failed reports it
    return client
  }
  return {
    async connect(login) {
      const client = quiet(login)
      return {
        call: (...words) => client.call(words[0] ?? '', ...words.slice(1)),
        async transaction(commands) {
          const named = commands.map(([name = '', ...args]) => [name.toLowerCase(), ...args])
          const answers = await client.multi(named).exec()
          return (answers ?? []).map(([error, answer]) => {
            if (error) throw error
            return answer
          })
        },
        close: async () => client.disconnect(),
      }
    },
    async subscribe(login, channel, onMessage) {
      const client = quiet(login)
      client.on('message', (_: string, message: string) => onMessage(message))
      await client.subscribe(channel)
      return { close: async () => client.disconnect() }
    },
  }
}

async function openRedis({ host, port, password, tls }: Login) {
  const socket = { host, port, ...(tls && { tls: true as const, ca: tls.ca }) }
  const client = createClient({ socket, username: 'default', password })
  client.on('error', () => undefined) // the call that failed reports it
  await client.connect()
  return client
}

function glideConfiguration({ host, port, password, tls }: Login): GlideClientConfiguration {
  if (tls !== undefined) throw new Error('no test takes valkey-glide through TLS')
  return {
    addresses: [{ host, port }],
    credentials: { username: 'default', password },
    // Its own default is 250 ms, which a busy machine exceeds without any handover.
    requestTimeout: 10_000,
  }
}

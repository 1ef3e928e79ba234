import type { Socket } from 'node:net'
import { type Epoch, Refusal } from '@fairlead/api'
import {
  connectOver,
  type EngineAddress,
  type EngineConnection,
  type EngineLogin,
  EngineUnreachable,
  openSignedIn,
} from '@fairlead/engine'

/** Connections of servers to the engines of this node. Dispose to cut them all. */
export interface Tunnels extends Disposable {
  /**
   * Connects a server to the engine of a shard: `answer` is called when the agent has signed in there, then
   * bytes pass both ways. Throws a Refusal: unavailable (no answer, or unknown shard), too_many_requests, or
   * stale_epoch (a higher epoch came in the meantime).
   */
  open(
    to: { readonly shard: string; readonly epoch: Epoch },
    server: Socket,
    answer: () => void,
  ): Promise<void>
  /** Connects this agent itself, for an order under that epoch: cut like a tunnel. Throws as `open`. */
  connect(to: { readonly shard: string; readonly epoch: Epoch }): Promise<CutConnection>
  /** Cuts those of the bucket with a lower epoch: none of their bytes reaches an engine after this. */
  cutBelow(epoch: Epoch): void
  /** Cuts all of them. */
  cutAll(): void
}

/** Returns the agent's login to a shard's engine; undefined for an unknown shard. */
export type TargetOf = (
  shard: string,
) => { readonly address: EngineAddress; readonly login: EngineLogin } | undefined

/** A connection to an engine that can be cut, also by its owner: no byte of it reaches the engine then. */
export type CutConnection = EngineConnection & { readonly cut: AbortController }

interface Tunnel {
  readonly shard: string
  readonly epoch: Epoch
  readonly cut: AbortController
}

/** A stalled process accepts connections, but sends nothing. */
const CONNECT_WITHIN_MS = 500
/** A server needs one, and briefly a few more. */
const MOST_OF_A_SHARD = 32

/**
 * Creates an empty set. `look` is called before a server's bytes are passed on, and may cut all
 * (watch-life.ts). `connectWithinMs` limits the login at an engine.
 */
export function createTunnels(
  targetOf: TargetOf,
  look: () => void,
  connectWithinMs = CONNECT_WITHIN_MS,
): Tunnels {
  const open = new Set<Tunnel>()
  const cut = (tunnels: Iterable<Tunnel>) => {
    for (const tunnel of [...tunnels]) {
      open.delete(tunnel)
      tunnel.cut.abort()
    }
  }
  const enter = (tunnel: Tunnel) =>
    openFor(tunnel, { open, cut, target: targetOf(tunnel.shard), connectWithinMs })
  return {
    async open({ shard, epoch }, server, answer) {
      if (server.destroyed) return
      const tunnel = { shard, epoch, cut: new AbortController() }
      server.once('close', () => cut([tunnel]))
      const { engine } = await enter(tunnel)
      answer()
      join(server, engine, tunnel.cut.signal, look)
    },
    async connect(to) {
      const tunnel = { ...to, cut: new AbortController() }
      const { engine, address } = await enter(tunnel)
      const end = () => endSocket(engine)
      if (tunnel.cut.signal.aborted) end()
      else tunnel.cut.signal.addEventListener('abort', end)
      const connection = connectOver(engine, { address })
      engine.resume()
      return Object.assign(connection, { cut: tunnel.cut })
    },
    cutBelow({ bucket, epoch }) {
      cut([...open].filter((one) => one.epoch.bucket === bucket && one.epoch.epoch < epoch))
    },
    cutAll: () => cut(open),
    [Symbol.dispose]: () => cut(open),
  }
}

/** Connects to the engine of a tunnel, which is among the open ones until that connection is closed. */
async function openFor(
  tunnel: Tunnel,
  {
    open,
    cut,
    target,
    connectWithinMs,
  }: {
    readonly open: Set<Tunnel>
    readonly cut: (tunnels: Iterable<Tunnel>) => void
    readonly target: ReturnType<TargetOf>
    readonly connectWithinMs: number
  },
): Promise<{ readonly engine: Socket; readonly address: EngineAddress }> {
  const { shard } = tunnel
  if (target === undefined) throw new Refusal('unavailable', `there is no shard ${shard} here`)
  if ([...open].filter((one) => one.shard === shard).length >= MOST_OF_A_SHARD)
    throw new Refusal('too_many_requests', `shard ${shard} has ${MOST_OF_A_SHARD} tunnels already`)
  open.add(tunnel)
  const { signal } = tunnel.cut
  try {
    const engine = await openSignedIn({ ...target, withinMs: connectWithinMs, signal })
    engine.once('close', () => open.delete(tunnel))
    return { engine, address: target.address }
  } catch (cause) {
    const wasCut = signal.aborted
    cut([tunnel])
    if (wasCut) throw new Refusal('stale_epoch', 'the tunnel was cut before it was open')
    if (cause instanceof EngineUnreachable) throw new Refusal('unavailable', cause.message, { cause })
    throw cause
  }
}

/**
 * Passes bytes both ways; at most about 100 KB wait here, because a slow receiver stops the sender. The end
 * of one side is passed on after its last byte. `cut` ends both and drops the rest; `look` is called before
 * each chunk of the server.
 */
function join(server: Socket, engine: Socket, cut: AbortSignal, look: () => void): void {
  const pass = (from: Socket, to: Socket, before: () => void) => {
    from.on('data', (chunk: Buffer) => {
      before()
      if (!cut.aborted && !to.write(chunk)) from.pause()
    })
    to.on('drain', () => from.resume())
    from.on('end', () => to.end())
    from.on('error', () => undefined)
  }
  const end = () => {
    server.destroy()
    endSocket(engine)
  }
  // It may have been cut between the login and now, after which no event comes.
  if (cut.aborted) {
    end()
    return
  }
  cut.addEventListener('abort', end)
  engine.once('close', () => server.destroySoon())
  pass(server, engine, look)
  pass(engine, server, () => undefined)
  engine.resume()
}

/**
 * Resets a connection, which also drops the kernel's bytes. A socket that is ending cannot be reset (libuv):
 * the process would never end.
 */
function endSocket(engine: Socket): void {
  if (engine.writableEnded) engine.destroy()
  else engine.resetAndDestroy()
}

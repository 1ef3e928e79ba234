import { randomBytes } from 'node:crypto'
import { type EngineConnection, EngineError, EngineUnreachable, hashSlot, readInfo } from '@fairlead/engine'
import { isBeforeRedis } from '../../core/carry-over/acl-words.ts'
import { hasEndpoint, type SlotRange } from '../../core/state/database.ts'
import type { EngineConnections, PassingTime } from '../turn/ports.ts'
import { member, type StepContext } from '../turn/step-context.ts'

/** Nagle's algorithm and delayed acknowledgements make it up to 50 ms (decision 22). */
const ARRIVED_WITHIN_MS = 200

/**
 * Waits for messages on the bus: in cluster mode published messages pass from shard to shard there, and
 * replication offsets do not count them.
 */
export interface MessagesOnTheBus extends Disposable {
  /**
   * Waits until the successor has received all messages published at the primary, so that a client which
   * subscribes at the successor then gets none twice. Waits at most 200 ms, and not without subscribers;
   * never rejects for an engine's error. Must be awaited before the takeover, which ends subscriptions to
   * shard channels at the successor.
   */
  arrived(): Promise<void>
}

/**
 * Begins to listen at the successor. Null without cluster mode or endpoint, and for Redis before 7.0: only
 * shard channels are hidden from `PSUBSCRIBE *`. Throws EngineUnreachable.
 */
export async function listenOnTheBus(
  { from, to }: { readonly from: number; readonly to: number },
  primary: EngineConnection,
  {
    database,
    members,
    seen,
    ports,
  }: Pick<StepContext<EngineConnections<'listen'> & PassingTime>, 'database' | 'members' | 'seen' | 'ports'>,
): Promise<MessagesOnTheBus | null> {
  const [old, successor] = [member(from, { members }), member(to, { members })]
  const isOld = [old, successor].some(({ runs }) => isBeforeRedis(runs.build, '7.0'))
  if (seen.slots === null || !hasEndpoint(database) || isOld) return null
  const channel = channelIn(seen.slots)
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  const listener = await ports.engines.listen(database, successor, channel, resolve)
  return {
    async arrived() {
      try {
        // The last message from the primary to the successor: messages between two shards stay in order
        // across channels.
        const [stats] = await Promise.all([primary.info('stats'), primary.call('SPUBLISH', channel, '')])
        if (isListenedTo(stats)) await Promise.race([heard, ports.time.pause(ARRIVED_WITHIN_MS)])
      } catch (cause) {
        if (!(cause instanceof EngineError || cause instanceof EngineUnreachable)) throw cause
      }
    },
    [Symbol.dispose]: () => listener[Symbol.dispose](),
  }
}

/** Returns a channel of the group's slots with a random name: a client's message would end the wait early. */
function channelIn({ first, last }: SlotRange): string {
  const word = randomBytes(8).toString('hex')
  for (let n = 0; ; n += 1) {
    const channel = `fairlead:handover:${word}:${n}`
    const slot = hashSlot(Buffer.from(channel))
    if (slot >= first && slot <= last) return channel
  }
}

function isListenedTo(info: string): boolean {
  const stats = readInfo(info)
  return ['pubsub_channels', 'pubsub_patterns', 'pubsubshard_channels'].some(
    (field) => Number(stats[field] ?? 0) > 0,
  )
}

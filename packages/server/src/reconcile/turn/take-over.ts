import type { Effect, EngineConnection } from '@fairlead/engine'
import type { SlotRange } from '../../core/state/database.ts'
import type { Time } from './time.ts'

/** Longest validity of an order to take over; everything stopped for it stays stopped for longer. */
export const ORDER_WITHIN_MS = 1_500
/** Largest difference of two clocks of one machine while an order expires, plus the time to read them. */
const MARGIN_MS = 500

/** A reading of an engine's clock: its value, and the arrival of the answer (Time.elapsed). */
export interface ClockReading {
  readonly engineMs: number
  readonly readAt: number
}

/**
 * A takeover takes all slots that the successor believes its primary to have, except `drop`, whose owner it
 * forgets before, and in addition `add`.
 */
export interface SlotsOfOrder {
  readonly drop: readonly SlotRange[]
  readonly add: readonly SlotRange[]
}

/**
 * `late`: the order had expired. `equal`: the successor's epoch would not have been above its primary's, and
 * it cannot raise it alone (steps/raise-epoch.ts). In both cases nothing has happened.
 */
export type TakeoverAnswer = 'taken' | 'late' | 'equal'

/** Orders to take over in cluster mode. A sent order cannot be taken back, so each carries its deadline. */
export interface Takeovers {
  /**
   * Orders a replica to take over, unless `until` (Time.elapsed) has passed when it reads the order. `clock`:
   * a reading of its clock; `above`: its primary's epoch according to the primary, the replica adds its own
   * knowledge. Throws EngineUnreachable: the takeover may still happen before `until`.
   */
  order(
    successor: EngineConnection,
    terms: { readonly clock: ClockReading; readonly until: number; readonly above?: number },
    effect: Effect,
    slots?: SlotsOfOrder,
  ): Promise<TakeoverAnswer>
  /** True if no order to this engine can be executed any more, from this server or a former one. */
  areOver(successor: EngineConnection['address']): boolean
}

/**
 * Takes over if in time and with a higher epoch.
 * 1. The engine uses its own clock, which is read before anything is stopped: two machines need not agree on
 *    the time. `TIME` and `CLUSTER` in one script are atomic on every version with cluster mode.
 * 2. `TAKEOVER` raises no epoch if the replica's own, which is shown nowhere, is the highest that it knows.
 *    If its primary has the same one, the slots stay, and in the end the node with the lower id gets all of
 *    them, with or without the newest writes. `BUMPEPOCH` raises in the same way and returns the number.
 */
const TAKE_OVER = `local now = redis.call('TIME')
if now[1] * 1000 + now[2] / 1000 > tonumber(ARGV[1]) then return 'late' end
local function each(word, ranges)
  local slots = {}
  for first, last in string.gmatch(ranges, '(%d+)-(%d+)') do
    for slot = tonumber(first), tonumber(last) do
      slots[#slots + 1] = slot
      if #slots == 4000 then
        redis.call('CLUSTER', word, unpack(slots))
        slots = {}
      end
    end
  end
  if #slots > 0 then redis.call('CLUSTER', word, unpack(slots)) end
end
local own = tonumber(string.match(redis.call('CLUSTER', 'BUMPEPOCH').ok, '%d+'))
local primary = tonumber(string.match(redis.call('CLUSTER', 'INFO'), 'cluster_my_epoch:(%d+)'))
if own <= math.max(primary, tonumber(ARGV[4])) and string.find(redis.call('CLUSTER', 'NODES'), 'myself,slave', 1, true) then
  return 'equal'
end
each('DELSLOTS', ARGV[2])
redis.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
each('ADDSLOTS', ARGV[3])
return 'taken'`

const none: SlotsOfOrder = { drop: [], add: [] }

/** Starts without orders. Former servers gave none after `since` (Time.elapsed, 0 at process start). */
export function createTakeovers(time: Pick<Time, 'elapsed'>, since = 0): Takeovers {
  const ends = new Map<string, number>()
  const nameOf = ({ host, port }: EngineConnection['address']) => `${host}:${port}`
  return {
    async order(successor, { clock, until, above = 0 }, effect, { drop, add } = none) {
      const deadline = Math.floor(clock.engineMs + until - clock.readAt)
      ends.set(nameOf(successor.address), until)
      const ranges = [drop, add].map((slots) => slots.map(({ first, last }) => `${first}-${last}`).join(' '))
      return effect('promote', async () => {
        const answer = await successor.call('EVAL', TAKE_OVER, 0, deadline, ...ranges, above)
        return answer === 'taken' || answer === 'equal' ? answer : 'late'
      })
    },
    areOver(address) {
      const end = ends.get(nameOf(address)) ?? since + ORDER_WITHIN_MS
      return time.elapsed() > end + MARGIN_MS
    },
  }
}

/** Reads an engine's clock (`TIME`, ms) and the monotonic time of the answer. */
export async function readClock(
  engine: EngineConnection,
  time: Pick<Time, 'elapsed'>,
): Promise<ClockReading> {
  const reply = await engine.call('TIME')
  const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : []
  return { engineMs: (seconds ?? 0) * 1_000 + (micros ?? 0) / 1_000, readAt: time.elapsed() }
}

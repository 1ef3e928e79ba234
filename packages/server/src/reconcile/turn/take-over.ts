import type { EngineConnection } from '@fairlead/engine'
import type { SlotRange } from '../../core/state/database.ts'
import type { Effect } from './effect.ts'

/** An order to take over is valid for this long at most; everything that was stopped for it stays so for longer. */
export const ORDER_WITHIN_MS = 1_500
/** What two clocks of one machine may differ by while an order runs out, and what reading them takes. */
const MARGIN_MS = 500

/** A clock reading of an engine: what it said, and at which moment of ours (performance.now) the answer was here. */
export interface ClockReading {
  readonly engineMs: number
  readonly readAt: number
}

/**
 * A takeover takes all slots that the heir believes its primary to have. `drop`: those that the heir forgets the owner of before, so
 * that they stay where they are. `add`: those that it takes besides.
 */
export interface SlotsOfOrder {
  readonly drop: readonly SlotRange[]
  readonly add: readonly SlotRange[]
}

/** Orders to take over in cluster mode: they cannot be taken back once they are sent, so each carries its end. */
export interface Takeovers {
  /**
   * Tells a replica to take over, unless it is later than `until` (of performance.now) when it comes to it. True: it has.
   * False: it was too late, and nothing has happened. `clock` is a reading of its clock. Throws EngineUnreachable: it may
   * still happen, until `until`.
   */
  order(
    heir: EngineConnection,
    times: { readonly clock: ClockReading; readonly until: number },
    effect: Effect,
    slots?: SlotsOfOrder,
  ): Promise<boolean>
  /** No order to this engine can be carried out any more, whoever gave it: us, or a server before us. */
  areOver(heir: EngineConnection['address']): boolean
}

/**
 * The engine judges by its own clock, which is read before anything is stopped: two machines need not agree on the time.
 * `TIME` and `CLUSTER` in one script are carried out at one moment, on every version that has cluster mode.
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
each('DELSLOTS', ARGV[2])
redis.call('CLUSTER', 'FAILOVER', 'TAKEOVER')
each('ADDSLOTS', ARGV[3])
return 'taken'`

const none: SlotsOfOrder = { drop: [], add: [] }

/** No engine has been ordered to take over yet. */
export function createTakeovers(): Takeovers {
  const ends = new Map<string, number>()
  const nameOf = ({ host, port }: EngineConnection['address']) => `${host}:${port}`
  return {
    async order(heir, { clock, until }, effect, { drop, add } = none) {
      const deadline = Math.floor(clock.engineMs + until - clock.readAt)
      ends.set(nameOf(heir.address), until)
      const ranges = [drop, add].map((slots) => slots.map(({ first, last }) => `${first}-${last}`).join(' '))
      return effect(
        'promote',
        async () => (await heir.call('EVAL', TAKE_OVER, 0, deadline, ...ranges)) === 'taken',
      )
    },
    areOver(address) {
      // A server before us has ended before this process began, which was at 0.
      const end = ends.get(nameOf(address)) ?? ORDER_WITHIN_MS
      return performance.now() > end + MARGIN_MS
    },
  }
}

/** Asks an engine for its time (`TIME`, milliseconds) and notes when the answer came, by our monotonic clock. */
export async function readClock(engine: EngineConnection): Promise<ClockReading> {
  const reply = await engine.call('TIME')
  const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : []
  return { engineMs: (seconds ?? 0) * 1_000 + (micros ?? 0) / 1_000, readAt: performance.now() }
}

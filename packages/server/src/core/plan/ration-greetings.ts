import type { Address } from '@fairlead/api'
import type { Lane } from '../state/lane.ts'
import { isLive, type ObservedDatabase } from '../state/topology.ts'

/**
 * Limit of introductions under way in one database. Each is two TLS connections, opened and, if both know
 * each other, closed: 1 to 3 ms CPU. With 64 groups thousands would begin in one turn.
 */
export const MOST_GREETINGS = 48
/** Begin in each turn in any case: introductions lost on a broken bus must not block the others. */
export const LEAST_GREETINGS = 4

/**
 * Limits how many introductions begin, first groups first, so that one group can hand over before the next
 * begins. Gossip makes some of the others unnecessary. A lane without room waits.
 */
export function rationGreetings(lanes: readonly Lane[], seen: ObservedDatabase): readonly Lane[] {
  if (!lanes.some(({ verdict }) => verdict.kind === 'do' && verdict.step.kind === 'meet')) return lanes
  let free = Math.max(LEAST_GREETINGS, MOST_GREETINGS - countOnTheirWay(seen))
  return lanes.map((lane) => {
    const { group, verdict } = lane
    if (verdict.kind !== 'do' || verdict.step.kind !== 'meet') return lane
    const greetings = verdict.step.greetings.slice(0, free)
    free -= greetings.length
    if (greetings.length > 0) return { group, verdict: { kind: 'do', step: { ...verdict.step, greetings } } }
    const why = `${MOST_GREETINGS} introductions are on their way already, and ${verdict.step.why}`
    return { group, verdict: { kind: 'hold', on: 'group', code: 'other_groups', why } }
  })
}

/**
 * Counts introductions under way at engines, ordered or by gossip, except to addresses without an answering
 * shard, which engines retry for as long as gossip names them.
 */
function countOnTheirWay({ groups }: ObservedDatabase): number {
  const live = groups.flatMap(({ shards }) => shards.filter(isLive))
  const answering = new Set(live.map(({ address }) => nameOf(address)))
  return live.flatMap(({ engine }) =>
    (engine.cluster?.nodes ?? []).filter(
      ({ handshake, address }) => handshake && answering.has(nameOf(address)),
    ),
  ).length
}

function nameOf({ host, port }: Address): string {
  return `${host}:${port}`
}

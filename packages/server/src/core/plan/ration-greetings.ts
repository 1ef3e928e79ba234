import type { Address } from '@fairlead/api'
import type { Lane } from '../state/lane.ts'
import { isLive, type ObservedDatabase } from '../state/topology.ts'

/**
 * Introductions that are on their way at once in one database, over all groups. Each is two TLS connections that are opened and, if both know
 * each other already, closed again: 1 to 3 ms of a processor. With 64 groups, every successor has to be known to all: thousands of introductions in one turn.
 */
export const MOST_GREETINGS = 48
/** This many begin in each turn in any case: introductions that never arrive, over a broken bus, must not block the others. */
export const LEAST_GREETINGS = 4

/**
 * Limits how many introductions begin at once, the first groups first: so one group is known to all, and may
 * hand over, before the next one begins. Gossip makes some of the others unnecessary. A lane without room waits.
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
 * Introductions that engines have under way, ordered by Fairlead or begun by gossip. Not those to addresses where no shard answers: engines retry these
 * for as long as gossip names them.
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

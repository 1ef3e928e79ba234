import type { ShardRecord } from '../../core/state/database.ts'
import { equalEpochs, lateOrder, type Outcome } from '../turn/outcome.ts'
import { type CommandContext, member } from '../turn/step-context.ts'
import type { TakeoverAnswer } from '../turn/take-over.ts'

/**
 * Raises the highest config epoch of the cluster at a shard other than `successor`, which hears of it by
 * gossip within seconds and can then raise its epoch. A shard that already has the highest epoch does not
 * raise it (`CLUSTER BUMPEPOCH` answers STILL), so shards are tried until one does. Followers first: their
 * epochs mean nothing to others, but a primary announces its slots again.
 */
export async function raiseEpoch(successor: number, context: CommandContext): Promise<void> {
  const { database, everybody, ports } = context
  const primaries = database.groups.map(({ primaryShard }) => primaryShard)
  const isPrimary = ({ id }: ShardRecord) => primaries.includes(id)
  const others = everybody.filter(({ id }) => id !== successor)
  for (const { id } of [...others.filter((one) => !isPrimary(one)), ...others.filter(isPrimary)]) {
    const other = member(id, { members: everybody })
    const answer = await ports.engines.tryOn(database, other, (connection) =>
      ports.effect('cluster bumpepoch', () => connection.call('CLUSTER', 'BUMPEPOCH')),
    )
    if (String(answer).startsWith('BUMPED')) return
  }
}

/** Returns the outcome of a refused takeover order, and makes the next one succeed. */
export async function afterRefusal(
  shard: number,
  answer: Exclude<TakeoverAnswer, 'taken'>,
  context: CommandContext,
): Promise<Outcome> {
  if (answer === 'late') return lateOrder(shard)
  await raiseEpoch(shard, context)
  return { kind: 'not yet', ...equalEpochs(member(shard, { members: context.everybody }).port) }
}

import type { Obstacle } from './obstacle.ts'
import {
  type EngineState,
  type Goal,
  isHeldBack,
  isLinked,
  isLive,
  type LiveShard,
  type ObservedGroup,
  type ObservedShard,
  type Step,
  type Verdict,
} from './topology.ts'

/** A group with settled roles: one answering primary, and the others. */
export interface Group {
  readonly seen: ObservedGroup
  readonly goal: Goal
  readonly primary: LiveShard
  readonly replicas: readonly ObservedShard[]
}

/** True if it is linked, has loaded its data, and has its append-only file if one is wanted. */
export function isReady(shard: ObservedShard, { goal, primary }: Group): boolean {
  return (
    isLinked(shard, primary) &&
    isLive(shard) &&
    !shard.engine.loading &&
    (goal.persistence !== 'aof' || shard.engine.aof === 'on')
  )
}

/** Waits for a shard that is not ready, with the progress of its full sync if reported. */
export function awaitShard(shard: ObservedShard, group: Group): Verdict {
  const isLoaded = isLinked(shard, group.primary) && isLive(shard) && !shard.engine.loading
  return {
    kind: 'wait',
    shard: shard.id,
    ...whyNotReady(shard, group),
    ...(isLoaded && progressOf(shard.engine)),
  }
}

/**
 * Returns the progress of the file that an engine writes. The wait lasts while the file grows: many engines
 * may write to one slow disk.
 */
export function progressOf({ saving }: EngineState): { readonly progress?: number } {
  return saving.progress == null ? {} : { progress: saving.progress.done }
}

/** Formats the progress for people, to append to a sentence; '' if unknown. */
export function howFar({ saving }: EngineState): string {
  if (saving.progress?.of == null) return ''
  const { done, of } = saving.progress
  return ` (${Math.floor((100 * done) / Math.max(1, of))} %)`
}

function whyNotReady(shard: ObservedShard, group: Group): Obstacle {
  const { code, why } = describeState(shard, group)
  if (shard.trouble === '') return { code, why }
  const { primary } = group
  // The primary has interrupted the sync: its log has the reason.
  const other =
    primary.trouble === '' || isLinked(shard, primary)
      ? ''
      : `; log of shard ${primary.id}: ${primary.trouble}`
  return { code, why: `${why} (its log: ${shard.trouble}${other})` }
}

function describeState(shard: ObservedShard, { primary }: Group): Obstacle {
  const name = `shard ${shard.id}`
  if (!isLive(shard))
    return { code: 'shard_silent', why: `${name} does not answer yet${inBrackets(whySilent(shard))}` }
  if (shard.engine.loading) return { code: 'loading', why: `${name} loads its data` }
  if (shard.engine.syncing)
    return { code: 'full_sync', why: `${name} receives a full sync from shard ${primary.id}` }
  if (shard.engine.link === 'up' && isHeldBack(shard, primary))
    return { code: 'replication', why: `shard ${primary.id} does not send its stream to ${name} yet` }
  if (!isLinked(shard, primary))
    return { code: 'replication', why: `${name} connects to shard ${primary.id}` }
  return { code: 'saving', why: `${name} writes its append-only file${howFar(shard.engine)}` }
}

/** Returns known facts about a silence, for the record: a given-up shard's folder is deleted with its log. */
function whySilent({ processWhy, trouble, lastLogLine = '' }: ObservedShard): string {
  const said = trouble === '' && lastLogLine !== '' ? `its log ends with: ${lastLogLine}` : ''
  return [processWhy, said].filter((words) => words !== '').join('; ')
}

/** Returns a reason in brackets, to append to a sentence; '' if there is none (a silence has just begun). */
export function inBrackets(reason: string): string {
  return reason === '' ? '' : ` (${reason})`
}

/** Returns the verdict that this step is next. */
export function act(step: Step): Verdict {
  return { kind: 'do', step }
}

import type { Database, Shard } from '@fairlead/api'
import type { Tone } from './describe-action.ts'
import { bytes, plural, short } from './format.ts'

/** A cell of the table of health. */
export interface Said {
  readonly words: string
  readonly tone?: Tone
}

/** Above this part of its limit, memory is about to be full. */
const FULL = 0.9

type Sized = Pick<Database, 'memory_size' | 'replication'>

/**
 * Memory in use, and the limit. With replicas, the backlog is in the first and on top of the second: a share
 * would be wrong.
 */
export function memoryOf(
  {
    used_memory: used,
    evicted_objects: evicted = 0,
  }: { readonly used_memory?: number; readonly evicted_objects?: number },
  { memory_size: limit, replication }: Sized,
): Said {
  if (used === undefined) return { words: '–' }
  const share = limit === 0 || replication ? null : used / limit
  const words = [
    limit === 0
      ? `${bytes(used)}, no limit`
      : `${bytes(used)}${replication ? '; data up to' : ' of'} ${bytes(limit)}`,
    ...(share === null ? [] : [`${Math.round(100 * share)} %`]),
    ...(evicted > 0 ? [`evicts ${short(evicted)} keys/s`] : []),
  ].join(', ')
  return { words, ...((evicted > 0 || (share ?? 0) > FULL) && { tone: 'wait' }) }
}

type Link = Pick<Shard, 'role' | 'link' | 'lag_bytes' | 'detailed_status'>

/** Replicas and their connections to primaries; undefined: not known yet. */
export function replicasOf(shards: readonly Link[] | undefined, replication: boolean): Said {
  if (shards === undefined) return { words: '–' }
  const replicas = shards.filter(({ role }) => role === 'slave')
  if (replicas.length === 0) return replication ? { words: 'none yet', tone: 'wait' } : { words: 'none' }
  const up = replicas.filter(({ link }) => link === 'up')
  if (up.length < replicas.length)
    return { words: `${up.length} of ${plural(replicas.length, 'link')} up`, tone: 'bad' }
  const lag = Math.max(...up.map(({ lag_bytes: behind }) => behind ?? 0))
  return { words: `${up.length} linked, ${bytes(lag)} behind` }
}

/** Errors of the endpoint since its process began; undefined: not known. */
export function errorsOf(errors: number | undefined): Said {
  if (errors === undefined) return { words: '–' }
  return { words: String(errors), ...(errors > 0 && { tone: 'wait' }) }
}

/**
 * What a database keeps on disk, and what it loses when its machine loses power: by `data_persistence`, and of `aof` by `aof_policy`. The API and the console say
 * the same.
 */
export const persistenceWords = {
  'appendfsync-every-sec':
    'written to disk once a second: up to about a second of acknowledged writes may be lost when the machine loses power',
  'appendfsync-always':
    'written to disk before each answer: no acknowledged write is lost when the machine loses power',
  snapshot: 'snapshots on disk: writes after the last one are lost when the machine loses power',
  disabled: 'nothing on disk: all data is lost when the machine loses power',
} as const

/** A way to keep data on disk. */
export type Persistence = keyof typeof persistenceWords

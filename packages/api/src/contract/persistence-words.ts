/**
 * The data on disk of a database, and its losses in a power failure, by `data_persistence` and `aof_policy`.
 * Shared by the API and the console.
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

/** State of an engine's snapshots. */
export interface Saving {
  /** `failed`: the last one was not written. */
  readonly state: 'idle' | 'writing' | 'failed'
  /** When this process wrote its last one (Unix ms, whole seconds); null if none. */
  readonly lastAt: number | null
  /** Progress of the file being written, snapshot or append-only file; null or absent if none. */
  readonly progress?: FileProgress | null
}

/** Progress of a file being written. */
export interface FileProgress {
  /** Keys written so far; seconds for an engine before 6.2. Rises while the file grows. */
  readonly done: number
  /** All keys; null for an engine that does not report them. */
  readonly of: number | null
}

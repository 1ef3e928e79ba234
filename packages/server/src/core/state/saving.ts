/** The state of the engine's snapshots. */
export interface Saving {
  /** `failed`: the last one was not written. */
  readonly state: 'idle' | 'writing' | 'failed'
  /** When this process wrote its last one, Unix milliseconds in whole seconds; null: none yet. */
  readonly lastAt: number | null
  /** The progress of the file that it writes now, snapshot or append-only file; null or absent: it writes none. */
  readonly progress?: FileProgress | null
}

/** The progress of a file that is being written. */
export interface FileProgress {
  /** Keys written so far; seconds for an engine that does not report keys (before 6.2). It rises while the file grows. */
  readonly done: number
  /** All keys; null for an engine that does not report them. */
  readonly of: number | null
}

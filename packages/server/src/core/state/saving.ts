/** Of its snapshots. */
export interface Saving {
  /** `failed`: the last one was not written. */
  readonly state: 'idle' | 'writing' | 'failed'
  /** When this process wrote its last one, Unix milliseconds in whole seconds; null: none yet. */
  readonly lastAt: number | null
  /** Of the file that it writes now, snapshot or append-only file; null or absent: it writes none. */
  readonly progress?: FileProgress | null
}

/** How far the writing of a file has come. */
export interface FileProgress {
  /** Keys written so far; of an engine that does not tell (before 6.2), seconds. It moves while the file grows. */
  readonly done: number
  /** Keys altogether; null of an engine that does not tell. */
  readonly of: number | null
}

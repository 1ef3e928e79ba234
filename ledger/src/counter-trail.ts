/** The answers so far of one counter that only one connection raises. */
export interface CounterTrail {
  /**
   * INCR answered `value`. False if the value jumped or came twice, which is evidence of a loss or a doubled
   * write.
   */
  acked(value: number): boolean
  /** An INCR was sent and no answer came: it may be carried out now, later, or never. */
  unknown(): void
  /** Compares the trail with the value that was read back. */
  judge(value: number): { readonly lost: number; readonly duplicated: number }
}

export function createCounterTrail(): CounterTrail {
  let acks = 0
  let unknowns = 0
  /** Increments of unknown outcome that no answer has shown yet. */
  let unseen = 0
  let last = 0

  return {
    acked(value) {
      acks += 1
      const surplus = value - (last + 1)
      const fits = surplus >= 0 && surplus <= unseen
      if (fits) unseen -= surplus
      last = value
      return fits
    },
    unknown() {
      unknowns += 1
      unseen += 1
    },
    judge(value) {
      return {
        // The last answer counts too: else an unknown one that was carried out could hide an acked one that
        // is gone.
        lost: Math.max(0, Math.max(acks, last) - value),
        duplicated: Math.max(0, value - (acks + unknowns)),
      }
    },
  }
}

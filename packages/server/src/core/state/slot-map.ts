/** A node in the view of another cluster node. */
interface Node {
  readonly id: string
  readonly myself: boolean
  readonly epoch: number
  /** Ranges in engines' format: "0-5460 7000". */
  readonly slots: string
}

/** All hash slots of a cluster. */
const SLOTS = 16_384

/**
 * Returns what a node lacks of the present slot map: every slot served, and each primary's slots and epoch as
 * in the primary's view (`views`). Undefined if complete.
 */
export function whyNotKnown(view: readonly Node[], views: readonly (readonly Node[])[]): string | undefined {
  const served = view.reduce((sum, { slots }) => sum + countSlots(slots), 0)
  if (served !== SLOTS) return `knows the primaries of ${served} of ${SLOTS} slots`
  for (const primary of views) {
    const own = primary.find(({ myself }) => myself)
    const seen = view.find(({ id }) => id === own?.id)
    if (own === undefined || seen === undefined) return 'does not know every primary of the cluster yet'
    if (seen.slots !== own.slots || seen.epoch !== own.epoch)
      return `has an old view of the slots of node ${own.id.slice(0, 8)}`
  }
  return undefined
}

function countSlots(ranges: string): number {
  return ranges
    .split(' ')
    .filter((range) => range !== '')
    .reduce((sum, range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return sum + last - first + 1
    }, 0)
}

/**
 * Tracks successors that certainly got no order to serve: each open handover of this process, from its intent
 * until the order. In memory only: handovers begun by a former server are unknown.
 */
export interface OrdersToServe {
  /** Called when this server has recorded a handover of this group; its successor has no order yet. */
  begin(group: GroupName): void
  /** Called right before the order: from here on the successor may serve, whatever it answers. */
  give(group: GroupName): void
  /** Called if the engine has refused the order: it is not the primary. */
  refused(group: GroupName): void
  /** True if the successor of the group's open handover may have got the order. */
  mayBeGiven(group: GroupName): boolean
}

interface GroupName {
  readonly databaseUid: number
  readonly group: number
}

/** Starts without handovers, for a new server process. */
export function createOrdersToServe(): OrdersToServe {
  // At most one handover of a group is open.
  const notGiven = new Set<string>()
  const nameOf = ({ databaseUid, group }: GroupName) => `${databaseUid}/${group}`
  return {
    begin: (group) => void notGiven.add(nameOf(group)),
    give: (group) => void notGiven.delete(nameOf(group)),
    refused: (group) => void notGiven.add(nameOf(group)),
    mayBeGiven: (group) => !notGiven.has(nameOf(group)),
  }
}

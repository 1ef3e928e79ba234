/**
 * Which successors have certainly not been told to serve: each open handover of this process is known from its intent on, and until its successor
 * is told. In memory only: nothing is known of a handover that a former server began.
 */
export interface OrdersToServe {
  /** This server has recorded a handover of this group. Its successor has been told nothing yet. */
  begin(group: GroupName): void
  /** Called right before the successor is told: from here on it may serve, whatever the answer is. */
  give(group: GroupName): void
  /** The engine has answered that it does not carry the order out: it is not the primary. */
  refused(group: GroupName): void
  /** May the successor of the group's open handover have been told? */
  mayBeGiven(group: GroupName): boolean
}

interface GroupName {
  readonly databaseUid: number
  readonly group: number
}

/** For a server process that has begun no handover yet. */
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

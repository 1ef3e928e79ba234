import type { Address } from '@fairlead/api/of-proxies'
import { type ClusterNodeInfo, isSameAddress } from '@fairlead/engine'

/** The cluster as reported by the engine at `asked`, over a connection of the proxy. */
export interface SlotView {
  readonly asked: Address
  readonly nodes: readonly ClusterNodeInfo[]
}

/** Returns the address of the primary that holds `slot`; null if none does. */
export function ownerIn(view: SlotView, slot: number): Address | null {
  const owner = view.nodes.find((node) => holds(node, slot))
  return owner === undefined ? null : placeOf(view, owner)
}

/** Returns the redirect target of the asked engine for missing keys of `slot`; null if none. */
export function leavingTo(view: SlotView, slot: number): Address | null {
  const leaving = view.nodes.flatMap((node) => (node.myself ? node.leaving : []))
  const to = leaving.find((each) => each.slot === slot)?.to
  const node = view.nodes.find(({ id }) => id === to)
  return node === undefined ? null : placeOf(view, node)
}

/** The change needed so that requests for a slot go to `owner`. */
export type Follow =
  /** It is that group's primary: only the slot has moved. */
  | { readonly kind: 'slot'; readonly group: number }
  /** It is that group's new primary: the known one has lost the role. */
  | { readonly kind: 'group'; readonly group: number }
  /** No change, for this reason. */
  | { readonly kind: 'no'; readonly why: string }

/**
 * Decides if and how to follow `owner`. It must itself report that it holds the slot (`view`), and its
 * address must belong to this database: `known`, or in `primaries` (by group). `slots`: the proxy's map from
 * slot to group.
 */
export function decideFollow(
  { slot, owner, view }: { readonly slot: number; readonly owner: Address; readonly view: SlotView },
  ours: {
    readonly primaries: readonly Address[]
    readonly known: readonly Address[]
    readonly slots: Uint16Array
  },
): Follow {
  const at = ownerIn(view, slot)
  if (at === null || !isSameAddress(at, owner)) return no(slot, 'is to be at an engine that does not say so')
  const group = ours.primaries.findIndex((primary) => isSameAddress(primary, owner))
  if (group >= 0) return { kind: 'slot', group }
  if (!isAmong(ours.known, owner)) return no(slot, 'is at an address that is no shard of this database')
  const replaced = groupOf(view, owner, ours.slots)
  const before = ours.primaries[replaced]
  if (before === undefined) return no(slot, 'is at a shard of which no group is known')
  if (view.nodes.some((node) => node.slots !== '' && isSameAddress(placeOf(view, node), before)))
    return no(slot, 'is at a shard beside which the primary of its group holds slots')
  return { kind: 'group', group: replaced }
}

/** True if the list contains this address. */
export function isAmong(all: readonly Address[], one: Address): boolean {
  return all.some((each) => isSameAddress(each, one))
}

function no(slot: number, why: string): Follow {
  return { kind: 'no', why: `slot ${slot} ${why}` }
}

/** Returns the group of most slots that the engine holds; -1 if it holds none. */
function groupOf(view: SlotView, owner: Address, slots: Uint16Array): number {
  const counts = new Map<number, number>()
  for (const node of view.nodes.filter(
    (each) => each.primary === null && isSameAddress(placeOf(view, each), owner),
  ))
    for (const [first, last] of rangesOf(node))
      for (const group of slots.subarray(first, last + 1)) counts.set(group, (counts.get(group) ?? 0) + 1)
  const [most = [-1, 0]] = [...counts].toSorted(([, a], [, b]) => b - a)
  return most[0]
}

function holds(node: ClusterNodeInfo, slot: number): boolean {
  return node.primary === null && rangesOf(node).some(([first, last]) => first <= slot && slot <= last)
}

/** Parses "0-5460 7000". */
function rangesOf({ slots }: ClusterNodeInfo): readonly (readonly [number, number])[] {
  return slots
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const [first, last = first] = word.split('-').map(Number)
      return [first ?? -1, last ?? -1] as const
    })
}

/** Returns a node's address. The asked engine has the address used, even if it does not know its host. */
function placeOf({ asked }: SlotView, { address, myself }: ClusterNodeInfo): Address {
  return myself ? asked : { host: address.host === '' ? asked.host : address.host, port: address.port }
}

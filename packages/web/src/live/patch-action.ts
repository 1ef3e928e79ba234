import type { Action, ClusterEvent } from '@fairlead/api'

type Lane = NonNullable<Action['lanes']>[number]
type LanesEvent = Extract<ClusterEvent, { type: 'lanes' }>
/** An event of an action. */
export type ActionChange = Extract<ClusterEvent, { type: 'action' | 'lanes' | 'handover' }>

/** Applies an event to an action. Other fields stay unchanged. */
export function patchAction(action: Action, event: ActionChange): Action {
  if (event.type === 'lanes') return { ...action, lanes: patchLanes(action.lanes ?? [], event.lanes) }
  if (event.type === 'handover') {
    const { certificate } = event
    const others = action.certificates.filter(({ at, to }) => at !== certificate.at || to !== certificate.to)
    return { ...action, certificates: [...others, certificate].toSorted((a, b) => a.at.localeCompare(b.at)) }
  }
  const { seq: _, type: __, time: ___, action_uid: ____, bdb_uid: _____, undo: ______, ...changed } = event
  return { ...action, ...changed }
}

const fresh: Omit<Lane, 'group'> = {
  state: 'waiting',
  handed_over: false,
  waiting: null,
  steps: [],
  steps_left_out: 0,
  sync: null,
  lag_bytes: null,
}

function patchLanes(lanes: readonly Lane[], patches: LanesEvent['lanes']): Lane[] {
  const byGroup = new Map(lanes.map((lane) => [lane.group, lane]))
  for (const { group, steps = {}, steps_count: many, ...changed } of patches) {
    const lane = byGroup.get(group) ?? { group, ...fresh }
    const all = [...lane.steps]
    // A step beyond a gap comes with the whole action, which is read again after each event.
    for (const [place, step] of Object.entries(steps))
      if (Number(place) <= all.length) all[Number(place)] = step
    byGroup.set(group, { ...lane, ...changed, steps: all.slice(0, many ?? all.length) })
  }
  return [...byGroup.values()].toSorted((a, b) => a.group - b.group)
}

import type { Mutant } from './mutant.ts'

const planRoles = {
  file: 'packages/server/src/core/plan/plan-roles.ts',
  tests: ['packages/server/src/core/plan/plan-roles.test.ts'],
}
const mayFollow = {
  file: 'packages/server/src/core/plan/plan-roles.ts',
  tests: ['packages/server/src/core/plan/may-follow.test.ts'],
}
const planSilent = {
  file: 'packages/server/src/core/plan/plan-roles.ts',
  tests: ['packages/server/src/core/plan/plan-silent.test.ts'],
}
const planHistory = {
  file: 'packages/server/src/core/plan/plan-roles.ts',
  tests: ['packages/server/src/core/plan/plan-history.test.ts'],
}
const database = {
  file: 'packages/server/src/core/plan/plan-database.ts',
  tests: ['packages/server/src/core/plan/plan-database.test.ts'],
}

/** Faults of the decisions in core. */
export const mutantsOfCore: readonly Mutant[] = [
  {
    name: 'a replica ahead of the primary may follow it',
    breaks: 'a follower loses nothing: its history is a prefix of the primary’s',
    ...mayFollow,
    text: 'if (mine.replid === theirs.replid) return mine.offset <= theirs.offset',
    instead: 'if (mine.replid === theirs.replid) return true',
  },
  {
    name: 'an old primary with writes of its own may follow its successor',
    breaks: 'two histories are never merged by themselves',
    ...mayFollow,
    text: 'return mine.replid === theirs.replid2 && mine.offset <= theirs.secondOffset - 1',
    instead: 'return mine.replid === theirs.replid2',
  },
  {
    name: 'the replica that holds the least is promoted',
    breaks: 'the replica that lost least takes the place of a dead primary',
    ...planRoles,
    text: 'b.engine.offset - a.engine.offset ||\n      Number(a.leaving)',
    instead: 'a.engine.offset - b.engine.offset ||\n      Number(a.leaving)',
  },
  {
    name: 'a replica that lacks what is on record is promoted',
    breaks: 'what was on record is not lost',
    ...planHistory,
    text: '(engine.offset >= history.offset &&\n          (engine',
    instead: '(engine.offset >= 0 &&\n          (engine',
  },
  {
    name: 'a replica that is being stopped is promoted',
    breaks: 'no role goes to a process that ends',
    ...planRoles,
    text: "process !== 'stopping' &&\n      engine.role === 'replica'",
    instead: "engine.role === 'replica'",
  },
  {
    name: 'a replica in the middle of a full sync is promoted',
    breaks: 'half a copy serves no client',
    file: 'packages/server/src/core/plan/plan-roles.ts',
    tests: ['packages/server/src/core/plan/moves-and-successors.test.ts'],
    text: '      !engine.syncing &&\n      !engine.loading &&\n      (history',
    instead: '      !engine.loading &&\n      (history',
  },
  {
    name: 'a shard is promoted beside a silent one that may be the primary',
    breaks: 'never two primaries, also not when a stalled one wakes up',
    ...planSilent,
    text: 'const primary = seen.shards.find((shard) => isSilent(shard) && mayServe(shard, seen))',
    instead:
      'const primary = seen.shards.find((shard) => isSilent(shard) && shard.leaving && mayServe(shard, seen))',
  },
  {
    name: 'a silent successor of an open handover may not serve',
    breaks: 'the successor of a handover that was interrupted may still take over',
    file: 'packages/server/src/core/plan/may-serve.ts',
    tests: ['packages/server/src/core/plan/plan-silent.test.ts'],
    text: '(id === handover.from || id === handover.to)',
    instead: 'id === handover.from',
  },
  {
    name: 'a process that hangs and holds the only copy is ended',
    breaks: 'the only copy of data is never ended',
    ...planSilent,
    text: 'if (successor === undefined && !silence.onDisk) {',
    instead: 'if (successor === undefined && !silence.onDisk && !silence.hung) {',
  },
  {
    name: 'that no shard is promoted beside a primary is not checked',
    breaks: 'the invariants that are checked before every step',
    file: 'packages/server/src/core/plan/invariants.ts',
    tests: ['packages/server/src/core/plan/invariants.test.ts'],
    text: "must(primaries.length === 0, 'no shard is promoted beside a primary')",
    instead: "must(primaries.length < 9, 'no shard is promoted beside a primary')",
  },
  {
    name: 'that a primary never restarts while it serves is not checked',
    breaks: 'the invariants that are checked before every step',
    file: 'packages/server/src/core/plan/invariants.ts',
    tests: ['packages/server/src/core/plan/invariants.test.ts'],
    text: "must(shard !== undefined && !serves(seen, shard), 'a primary never",
    instead: "must(shard !== undefined, 'a primary never",
  },
  {
    name: 'that a serving shard is not retired is not checked',
    breaks: 'the invariants that are checked before every step',
    file: 'packages/server/src/core/plan/invariants.ts',
    tests: ['packages/server/src/core/plan/invariants.test.ts'],
    text: 'shard === undefined || !serves(seen, shard) || seen.shards.length === 1,',
    instead: 'shard === undefined || seen.shards.length >= 1,',
  },
  {
    name: 'that the successor of a handover is linked is not checked',
    breaks: 'the invariants that are checked before every step',
    file: 'packages/server/src/core/plan/invariants.ts',
    tests: ['packages/server/src/core/plan/invariants.test.ts'],
    text: 'primary !== undefined && successor !== undefined && isLinked(successor, primary),',
    instead: 'primary !== undefined && successor !== undefined,',
  },
  {
    name: 'an older snapshot is as good as a newer one',
    breaks: 'what was on a disk is on a disk before its shard is given up',
    file: 'packages/server/src/core/plan/kept-on-disk.ts',
    tests: ['packages/server/src/core/plan/plan-durability.test.ts'],
    text: 'return mine != null && (theirs == null || mine >= theirs)',
    instead: 'return mine != null',
  },
  {
    name: 'an append-only file that is not there yet counts',
    breaks: 'what was on a disk is on a disk before its shard is given up',
    file: 'packages/server/src/core/plan/kept-on-disk.ts',
    tests: ['packages/server/src/core/plan/plan-durability.test.ts'],
    text: "return shard.engine.aof === 'on' ? undefined",
    instead: "return shard.engine.aof !== 'off' ? undefined",
  },
  {
    name: 'an empty disk is not known for one',
    breaks: 'an empty disk empties no other shard',
    file: 'packages/server/src/core/plan/kept-on-disk.ts',
    tests: [
      'packages/server/src/core/plan/plan-from-disks.test.ts',
      'packages/server/src/core/plan/plan-roles.test.ts',
      'packages/server/src/core/plan/plan-power-cuts.test.ts',
    ],
    text: "return disk !== null && disk.snapshot === null && disk.aof === 'none'",
    instead: 'return disk === null',
  },
  {
    name: 'a successor that took over unheard is not started first',
    breaks: 'the younger claim on the slots served last',
    file: 'packages/server/src/core/plan/plan-from-disks.ts',
    tests: [
      'packages/server/src/core/plan/plan-roles.test.ts',
      'packages/server/src/core/plan/plan-from-disks.test.ts',
    ],
    text: 'return successor.disk.claim > (recorded.disk?.claim ?? -1) ? successor : undefined',
    instead: 'return successor.disk.claim < (recorded.disk?.claim ?? -1) ? successor : undefined',
  },
  {
    name: 'clients of an interrupted handover are held on',
    breaks: 'no client is held after its handover',
    file: 'packages/server/src/core/plan/plan-group.ts',
    tests: [
      'packages/server/src/core/plan/plan-roles.test.ts',
      'packages/server/src/core/plan/plan-crashes.test.ts',
    ],
    text: 'if (seen.handover !== null && !seen.handover.released) {',
    instead: 'if (seen.handover !== null && !seen.handover.released && seen.handover.ageMs > 1e9) {',
  },
  {
    name: 'two groups move their roles at once',
    breaks: 'one handover at a time',
    file: 'packages/server/src/core/plan/plan-database.ts',
    tests: ['packages/server/src/core/plan/moves-and-successors.test.ts'],
    text: "if (kind === 'hand-over' && handsOver)",
    instead: "if (kind === 'hand-over' && handsOver && goal.undo)",
  },
  {
    name: 'old shards are given up before all groups have handed over',
    breaks: 'every group can go back until all have handed over',
    ...database,
    named: 'gives up nothing old',
    text: 'if (notUpgraded !== undefined && notUpgraded !== group) {',
    instead: 'if (notUpgraded !== undefined && notUpgraded !== group && !allowed.mayFinalize) {',
  },
  {
    name: 'the other groups do not wait for the canary',
    breaks: 'the canary goes first',
    ...database,
    named: 'touches only the canary',
    text: 'const waitsForCanary = goal.policy.canary && !goal.undo && canary !== undefined && canary !== group',
    instead:
      'const waitsForCanary = goal.policy.canary && goal.undo && canary !== undefined && canary !== group',
  },
  {
    name: 'one shard more than allowed is in hand',
    breaks: 'parallel_shards_upgrade',
    ...database,
    named: 'has no more shards in hand',
    text: '    if (free <= 0)\n',
    instead: '    if (free < 0)\n',
  },
  {
    name: 'a standby that could not carry out commands is a way back',
    breaks: 'an upgrade is taken back without loss or not at all',
    file: 'packages/server/src/core/state/way-back.ts',
    tests: [
      'packages/server/src/core/state/way-back.test.ts',
      'packages/server/src/core/plan/unsound.test.ts',
    ],
    text: 'if (failed <= 0) return undefined',
    instead: 'if (failed >= 0) return undefined',
  },
  {
    name: 'a wait before the handover never ends',
    breaks: 'waiting has an end, and what was begun is undone',
    file: 'packages/server/src/core/plan/apply-deadlines.ts',
    tests: ['packages/server/src/core/plan/apply-deadlines.test.ts'],
    text: 'if (waitedMs < deadlineMs(verdict, awaited, held) + syncMs(seen)) return verdict',
    instead: 'if (waitedMs >= 0) return verdict',
  },
  {
    name: 'what an old primary wrote after its handover is not told',
    breaks: 'what may be lost is said',
    file: 'packages/server/src/core/losses/lost-in-handover.ts',
    tests: ['packages/server/src/core/losses/lost-in-handover.test.ts'],
    text: 'return inCluster && old?.isSameProcess && old.alone !== 0 ? old.alone : undefined',
    instead: 'return undefined',
  },
  {
    name: 'a successor need not know every slot',
    breaks: 'a successor takes over all slots of its group',
    file: 'packages/server/src/core/state/slot-map.ts',
    tests: ['packages/server/src/core/state/slot-map.test.ts'],
    text: 'if (seen.slots !== own.slots || seen.epoch !== own.epoch)',
    instead: 'if (seen.slots === undefined)',
  },
]

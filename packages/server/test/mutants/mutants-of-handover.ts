import type { Mutant } from './mutant.ts'

const tests = ['reconcile/handover/hand-over.test.ts']
const crashes = ['core/plan/plan-crashes.test.ts']
const moveRole = { file: 'reconcile/handover/move-role.ts', tests }
const inCluster = { file: 'reconcile/handover/move-role-in-cluster.ts', tests }

/** Faults of the handover, and of the steps around it. */
export const mutantsOfHandover: readonly Mutant[] = [
  {
    name: 'the role moves although a follower has not caught up',
    breaks: 'offsets are equal when the role moves',
    ...moveRole,
    text: 'while (![seen.successor, ...seen.others].every((follower) => isAt(follower, seen.primary))) {',
    instead: 'while (![...seen.others].every((follower) => isAt(follower, seen.primary))) {',
  },
  {
    name: 'the frozen offset of the old primary is not compared',
    breaks: 'the successor holds all that its primary had when it was demoted',
    ...moveRole,
    text: '  if (!isAt(held, frozen)) {',
    instead: '  if (held.offset < 0) {',
  },
  {
    name: 'promoted before the old primary is demoted',
    breaks: 'demote before promote',
    ...moveRole,
    text: "  const demoted = await effect('demote'",
    instead: "  await effect('promote', () => promote(group))\n  const demoted = await effect('demote'",
  },
  {
    name: 'commands that the successor could not carry out are not counted',
    breaks: 'the successor has carried out everything',
    ...moveRole,
    text: '  if (skipped > 0)',
    instead: '  if (skipped < 0)',
  },
  {
    name: 'keys are not counted',
    breaks: 'the successor holds as many keys as its primary',
    ...moveRole,
    text: 'if (primary.keys === successor.keys) return primary',
    instead: 'if (primary.keys >= 0) return primary',
  },
  {
    name: 'writes are not let go when nothing was moved',
    breaks: 'an attempt that came to nothing leaves everything as it was',
    ...moveRole,
    text: "  if ('why' in equal) {\n    await letWritesGo(primary, build, ports)\n    return equal",
    instead: "  if ('why' in equal) {\n    return equal",
  },
  {
    name: 'in cluster mode the role moves at offsets that differ',
    breaks: 'offsets are equal when the role moves',
    ...inCluster,
    text: "    if ('why' in equal) {\n      await letWritesGo(primary, build, ports)\n      return equal\n    }\n    const still = await standStill(group, equal.offset, ports)",
    instead:
      "    if ('why' in equal && equal.hopeless) {\n      await letWritesGo(primary, build, ports)\n      return equal\n    }\n    if ('why' in equal) return { replid: first.primary.replid, offset: first.primary.offset, keys: 0, writeStopMs: 0, heldMs: await group.takeClients() }\n    const still = await standStill(group, equal.offset, ports)",
  },
  {
    name: 'in cluster mode writes go on before the old primary has heard of its successor',
    breaks: 'the old primary takes no write after it was replaced',
    ...inCluster,
    text: 'untilSteppedDown(primary, ports.time).then(() => letWritesGo(primary, build, ports)),',
    instead: 'letWritesGo(primary, build, ports),',
  },
  {
    name: 'that the successor may serve is not noted before it is told',
    breaks: 'what may be lost is said, whenever the server dies',
    ...inCluster,
    text: '    group.orders.give()\n',
    instead: '',
  },
  {
    name: 'outside of cluster mode, that the successor may serve is not noted',
    breaks: 'what may be lost is said, whenever the server dies',
    ...moveRole,
    text: '  orders.give()\n  try {',
    instead: '  try {',
  },
  {
    name: 'clients are taken to the successor before it is on record that it serves',
    breaks: 'the disk on record is the one that has the first write',
    file: 'reconcile/handover/hand-over.ts',
    tests,
    text: '    await record.serving()\n    return (await held?.moveToSuccessor()) ?? null',
    instead:
      '    const heldMs = (await held?.moveToSuccessor()) ?? null\n    await record.serving()\n    return heldMs',
  },
  {
    name: 'clients stay held when nothing was moved',
    breaks: 'clients that are held are let go to the primary they had',
    file: 'reconcile/handover/hand-over.ts',
    tests,
    text: '    await held?.release()\n    await record.abandon()',
    instead: '    await record.abandon()',
  },
  {
    name: 'the intent is on record only when writes stand still',
    breaks: 'after a crash it is known what was held',
    file: 'reconcile/handover/hand-over.ts',
    tests,
    text: '  await record.intend()\n  await clients.giveUpBlocked()\n',
    instead: '  await clients.giveUpBlocked()\n',
  },
  {
    name: 'siblings are left with the old primary',
    breaks: 'all follow the one primary',
    file: 'reconcile/handover/hand-over.ts',
    tests,
    text: "    await effect('follow', () => sibling.call('REPLICAOF', host, port))",
    instead: '    if (port < 0) await sibling.call(host)',
  },
  {
    name: 'an order to take over has no end',
    breaks: 'an order to take over has a deadline',
    file: 'reconcile/turn/take-over.ts',
    tests: ['reconcile/turn/take-over.test.ts'],
    text: "if now[1] * 1000 + now[2] / 1000 > tonumber(ARGV[1]) then return 'late' end",
    instead: '',
  },
  {
    name: 'after a crash writes are let go nowhere',
    breaks: 'no client is held after its handover',
    file: 'reconcile/steps/seal-handover.ts',
    tests: crashes,
    named: 'when the server is killed repeatedly',
    text: '      await letWritesGo(connection, shard.runs.build, ports)\n',
    instead: '',
  },
  {
    name: 'a promotion does not say on record that the shard follows no other',
    breaks: 'no shard is promoted beside one that may still carry out its order',
    file: 'reconcile/steps/carry-out.ts',
    tests: crashes,
    named: 'when followers stall as well',
    text: 'const follows = context.members.length > 1 ? null : shard.follows',
    instead: 'const follows = shard.follows',
  },
  {
    name: 'a shard that restarts is recorded as one that follows no other',
    breaks: 'a replica comes back as one',
    file: 'reconcile/shards/ports-of-shard.ts',
    tests: crashes,
    named: 'when the server is killed repeatedly',
    text: 'const shard = { ...before, ...next, tlsPort',
    instead: 'const shard = { ...before, ...next, follows: null, tlsPort',
  },
  {
    name: 'a record goes before its process',
    breaks: 'whatever runs is on record',
    file: 'reconcile/steps/carry-out-shards.ts',
    tests: crashes,
    named: 'when the server is killed repeatedly',
    text: "} else if (seen.shards.find(({ id }) => id === step.shard)?.process === 'absent') {",
    instead: '} else {',
  },
]

import type { Mutant } from './mutant.ts'

const source = 'packages/agent/src'
const component = 'packages/agent/test/component'
const decideSilent = {
  file: `${source}/engine/decide-silent.ts`,
  tests: [`${source}/engine/decide-silent.test.ts`],
}
const decideNext = {
  file: `${source}/shards/decide-next.ts`,
  tests: [`${source}/shards/decide-next.test.ts`],
}
const tunnels = { file: `${source}/tunnels/tunnels.ts`, tests: [`${component}/tunnels/tunnels.test.ts`] }

/** Faults of the agent. */
export const mutantsOfAgent: readonly Mutant[] = [
  {
    name: 'a copy may lack keys of its backup',
    breaks: 'a copy has all data of its backup',
    file: `${source}/engine/count-data.ts`,
    tests: [`${source}/engine/count-data.test.ts`],
    text: 'if (has.keys > is.keys || has.keys < is.keys - is.expires - (is.volatile ?? 0))',
    instead: 'if (has.keys > is.keys)',
  },
  {
    name: 'a file of a backup may be another',
    breaks: 'a copy has all data of its backup',
    file: `${source}/engine/place-snapshot.ts`,
    tests: [`${component}/backups/backups.test.ts`],
    text: 'if (found !== sha256)',
    instead: "if (found === '')",
  },
  {
    name: 'a shard must have the data of its backup at each start',
    breaks: 'a copy is a database like any other',
    file: `${source}/shards/carry-out.ts`,
    tests: [`${component}/backups/backups.test.ts`],
    text: 'const seed = last === null ? spec.seed : last.seed',
    instead: 'const seed = spec.seed',
  },
  {
    name: 'a process is known by its pid alone',
    breaks: 'no other process is adopted, or ended',
    file: `${source}/process/process-identity.ts`,
    tests: [`${component}/process/process-identity.test.ts`],
    text: 'return now !== null && now.startTime === identity.startTime && now.bootId === identity.bootId',
    instead: 'return now !== null',
  },
  {
    name: 'a process of any user is adopted',
    breaks: 'no other process is adopted, or ended',
    file: `${source}/process/works-in-folder.ts`,
    tests: [`${component}/process/impostors.test.ts`],
    text: 'return mayBeOurs(owner, uid) && cwd.dev',
    instead: 'return uid >= 0 && cwd.dev',
  },
  {
    name: 'a process that works in another folder of this name is adopted',
    breaks: 'no other process is adopted, or ended',
    file: `${source}/process/works-in-folder.ts`,
    tests: [`${component}/process/impostors.test.ts`],
    text: ' && cwd.dev === ours.dev && cwd.ino === ours.ino',
    instead: '',
  },
  {
    name: 'a silent shard is ended although it is the only copy',
    breaks: 'the only copy of data is never ended',
    ...decideSilent,
    text: "    case 'everything':\n      return {\n        ...leave,\n        hung: true,",
    instead: "    case 'everything':\n      return {\n        ...leave,\n        kind: 'kill',",
  },
  {
    name: 'a silent member of a group is ended without an order',
    breaks: 'only the server knows what the others of a group hold',
    ...decideSilent,
    text: "if (ordered) return { kind: 'kill'",
    instead: "if (ordered || forMs > 0) return { kind: 'kill'",
  },
  {
    name: 'a shard that works is ended as if it hung',
    breaks: 'busy is not hung',
    ...decideSilent,
    text: "  if (doing === 'works' || doing === 'disk') return leave\n",
    instead: "  if (doing === 'disk') return leave\n",
  },
  {
    name: 'what is only in memory counts as on disk',
    breaks: 'the only copy of data is never ended',
    file: `${source}/shards/see-silence.ts`,
    tests: [`${source}/shards/see-silence.test.ts`],
    text: "? 'unsaved' : 'everything'",
    instead: "? 'unsaved' : 'unsaved'",
  },
  {
    name: 'a replica whose primary is gone is ended',
    breaks: 'a replica may be the next primary',
    file: `${source}/shards/see-silence.ts`,
    tests: [`${source}/shards/see-silence.test.ts`],
    text: "serves(spec.replicaOf) ? 'nothing' : 'unknown'",
    instead: "serves(spec.replicaOf) ? 'nothing' : 'nothing'",
  },
  {
    name: 'a shard starts again without what it has not saved',
    breaks: 'a shard is stopped with its data on disk',
    ...decideNext,
    text: "return { kind: 'stop', save: true, why: 'it is to start again",
    instead: "return { kind: 'stop', save: false, why: 'it is to start again",
  },
  {
    name: 'a primary that has died starts again by itself',
    breaks: 'never two primaries: the server orders the start of what may be one',
    ...decideNext,
    text: "  if (wanted.onCrash === 'wait')\n",
    instead: "  if (wanted.onCrash === 'wait' && ended.how === 'stopped')\n",
  },
  {
    name: 'an engine that cannot save is ended',
    breaks: 'an engine that refuses to stop runs on',
    file: `${source}/engine/stop-process.ts`,
    tests: [`${component}/shards/supervise-shard.test.ts`],
    named: 'cannot save its data',
    text: "    if (refusal !== null) return { kind: 'refused', why: refusal }",
    instead: "    if (refusal !== null) return await endBySignals(identity, 'in spite of it', signal)",
  },
  {
    name: 'the tunnels of a server that was replaced stay open',
    breaks: 'not a byte of a server that was replaced reaches an engine',
    ...tunnels,
    text: 'one.epoch.bucket === bucket && one.epoch.epoch < epoch',
    instead: 'one.epoch.bucket === bucket && one.epoch.epoch < epoch - 1',
  },
  {
    name: 'a tunnel that was cut while it opened stays',
    breaks: 'not a byte of a server that was replaced reaches an engine',
    ...tunnels,
    text: '  if (cut.aborted) {\n    end()\n    return\n  }\n',
    instead: '',
  },
  {
    name: 'a server is not told that the successor gets the order to serve',
    breaks: 'what may be lost is said, whenever the agent dies',
    file: `${source}/tunnels/serve-move.ts`,
    tests: [`${component}/tunnels/serve-move.test.ts`],
    text: 'answer({ giving: true })',
    instead: 'undefined',
  },
  {
    name: 'the epochs of an agent are not on its disk',
    breaks: 'a server that was replaced changes nothing, also after a restart',
    file: `${source}/tunnels/open-fence.ts`,
    tests: [`${component}/tunnels/tunnels.test.ts`],
    named: 'also by the next agent',
    text: '    await writeDurably(path, JSON.stringify(epochs))\n',
    instead: '    void epochs\n',
  },
  {
    name: 'a proxy that works for long is ended',
    breaks: 'clients lose their connections only when nothing else helps',
    file: `${source}/proxy/decide-stuck.ts`,
    tests: [`${source}/proxy/decide-stuck.test.ts`],
    text: 'const STUCK_SHARE = 0.5',
    instead: 'const STUCK_SHARE = 0.05',
  },
]

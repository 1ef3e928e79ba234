/** A campaign: more of what some tests try than `npm test` has time for. */
export interface Profile {
  /** One line for people. */
  readonly what: string
  /** Estimated for the whole profile, on two cores. */
  readonly minutes: number
  readonly files: readonly string[]
  readonly effort: Effort
  /** True: each part of a run tries its share of the rounds. Otherwise the parts share the files. */
  readonly sharesRounds?: boolean
}

/** The part of all rounds that are tried, or how many times as often as usual a random choice is made. */
interface Effort {
  /** In `npm run prove` without a profile, which has an hour for everything. */
  readonly all: number
  readonly profile: number
  /** In `npm test`; absent: the files belong to the proof tier, and otherwise run as in `all`. */
  readonly usual?: number
}

const ofStalls = 'e2e/proof/faults/stalls-everywhere.test.ts'
const ofFaults = 'e2e/proof/faults/server-faults.test.ts'
const ofPlanner = [
  'packages/server/src/core/plan/late-rollbacks.test.ts',
  'packages/server/src/core/plan/plan-breaks.test.ts',
  'packages/server/src/core/plan/plan-cluster.test.ts',
  'packages/server/src/core/plan/plan-crashes.test.ts',
  'packages/server/src/core/plan/plan-database.test.ts',
  'packages/server/src/core/plan/plan-leaving.test.ts',
  'packages/server/src/core/plan/plan-power-cuts.test.ts',
  'packages/server/src/core/plan/take-back.test.ts',
  'packages/server/src/reconcile/handover/hand-over.test.ts',
  'packages/server/src/reconcile/records/action-standing.test.ts',
]

const ofBuilds = [
  'packages/agent/test/component/agent.test.ts',
  'packages/agent/test/component/engine/engine-config.test.ts',
  'packages/agent/test/component/engine/engine-wall.test.ts',
  'packages/agent/test/component/engine/shard-certificate.test.ts',
  'packages/agent/test/component/engine/watch-settings.test.ts',
  'packages/agent/test/component/folder/mend-cluster-nodes.test.ts',
  'packages/agent/test/component/folder/read-settings.test.ts',
  'packages/agent/test/component/folder/watch-disk.test.ts',
  'packages/agent/test/component/process/bound-log.test.ts',
  'packages/agent/test/component/shards/busy-is-not-hung.test.ts',
  'packages/agent/test/component/shards/carry-out.test.ts',
  'packages/agent/test/component/shards/cluster-mode.test.ts',
  'packages/agent/test/component/shards/modules.test.ts',
  'packages/agent/test/component/shards/stale-view.test.ts',
  'packages/agent/test/component/shards/supervise-shard.test.ts',
  'packages/agent/test/component/shards/watch-crowd.test.ts',
  'packages/agent/test/component/trials/trials.test.ts',
  'packages/proxy/test/component/forwarding/command-matrix.test.ts',
  'packages/proxy/test/component/forwarding/inline-lines.test.ts',
  'packages/proxy/test/component/forwarding/protocol-errors.test.ts',
  'packages/proxy/test/component/forwarding/silence.test.ts',
  'packages/proxy/test/component/forwarding/transactions.test.ts',
  'packages/proxy/test/component/forwarding/wrong-logins.test.ts',
  'packages/proxy/test/component/handover/unblocked-clients.test.ts',
  'packages/proxy/test/component/handover/hold-on.test.ts',
  'packages/proxy/test/component/handover/why-unreachable.test.ts',
  'packages/proxy/test/component/remembered/replay.test.ts',
  'packages/proxy/test/component/remembered/tracking.test.ts',
  'packages/server/test/component/reconcile/carry-over/carry-settings.test.ts',
  'packages/server/test/component/reconcile/carry-over/keep-within-reach.test.ts',
  'packages/server/test/component/reconcile/carry-over/read-settings.test.ts',
  'packages/server/test/component/reconcile/handover/equal-epochs.test.ts',
  'packages/server/test/component/reconcile/look/read-saving.test.ts',
  'packages/server/test/component/reconcile/loop/cluster-pairs.test.ts',
  'packages/server/test/component/reconcile/shards/keep-node-timeout.test.ts',
  'packages/server/test/component/reconcile/shards/keep-sync-room.test.ts',
  'packages/server/test/component/reconcile/shards/raise-backlog.test.ts',
  'packages/server/test/component/reconcile/steps/seal-handover.test.ts',
  'packages/server/test/component/reconcile/turn/take-over.test.ts',
]

export const profiles = {
  stalls: {
    what: 'every process of a handover stops for a while before and after each effect, in both modes',
    minutes: 30,
    files: [ofStalls],
    effort: { all: 1 / 4, profile: 1 },
    sharesRounds: true,
  },
  crashes: {
    what: 'the server is killed before each effect of an upgrade',
    minutes: 7,
    files: ['e2e/proof/faults/crash-server.test.ts'],
    effort: { all: 1, profile: 1 },
    sharesRounds: true,
  },
  'power-cuts': {
    what: 'engines, proxy, agent and server are killed together before each effect, with each kind of persistence',
    minutes: 30,
    files: ['e2e/proof/faults/power-cut.test.ts'],
    effort: { all: 1 / 8, profile: 1 },
    sharesRounds: true,
  },
  kills: {
    what: 'one or two random processes are killed at a random moment of an upgrade, between random builds',
    minutes: 15,
    files: ['e2e/proof/faults/kill-anything.test.ts'],
    effort: { all: 2, profile: 15 },
  },
  'server-faults': {
    what: 'one of several servers on one PostgreSQL is killed, stopped or cut off at each point of an upgrade',
    minutes: 60,
    files: [ofFaults],
    effort: { all: 1 / 16, profile: 1 },
    sharesRounds: true,
  },
  'patient-server-faults': {
    what: 'the same, but leases expire instead of being ended in PostgreSQL',
    minutes: 240,
    files: [ofFaults],
    effort: { all: 0, profile: 1 },
    sharesRounds: true,
  },
  postgres: {
    what: 'PostgreSQL is killed, stopped or cut off under transactions, and under upgrades',
    minutes: 30,
    files: ['e2e/proof/postgresql/postgres-faults.test.ts', 'e2e/proof/faults/postgres-dies.test.ts'],
    effort: { all: 1, profile: 10 },
  },
  'agent-stalls': {
    what: 'the agent stops repeatedly while 50 databases are upgraded at the same time, instead of 3',
    minutes: 15,
    files: ['e2e/proof/faults/agent-stalls.test.ts'],
    effort: { all: 1, profile: 50 / 3 },
  },
  'many-groups': {
    what: 'a database of 64 groups, instead of 8, is created and upgraded; it takes the ports from 5000 to 5499',
    minutes: 20,
    files: ['e2e/proof/upgrades/many-groups.test.ts'],
    effort: { all: 1, profile: 8 },
  },
  'many-replicated-groups': {
    what: 'the same, and each group has a replica',
    minutes: 30,
    files: ['e2e/proof/upgrades/many-groups.test.ts'],
    effort: { all: 1, profile: 8 },
  },
  simulation: {
    what: 'the planner and the handover that ships, on a model in memory: crashes, power cuts, broken connections',
    minutes: 30,
    files: ofPlanner,
    effort: { usual: 1, all: 2, profile: 20 },
  },
  'simulation-shipped': {
    what: 'the same, with all of a turn that ships, which takes three times as long a world',
    minutes: 30,
    files: ofPlanner,
    effort: { usual: 1, all: 1, profile: 5 },
  },
  'byte-streams': {
    what: 'conversations of clients, cut anywhere, with handovers, stalls and kills at the cuts',
    minutes: 30,
    files: [
      'packages/proxy/test/component/forwarding/byte-streams.test.ts',
      'packages/proxy/test/component/sharded/sharded-streams.test.ts',
      'packages/proxy/test/component/handover/busy-clients.test.ts',
    ],
    effort: { usual: 1, all: 3, profile: 60 },
  },
  hostile: {
    what: 'random bytes, requests and handshakes of hostile clients to the endpoint, the Sentinel and the API',
    minutes: 15,
    files: [
      'e2e/proof/neighbours/hostile-endpoint.test.ts',
      'packages/proxy/test/component/sentinel/hostile-clients.test.ts',
      'packages/server/test/component/stored/http/hostile.test.ts',
      'e2e/proof/neighbours/hostile-upgrades.test.ts',
    ],
    effort: { usual: 0.4, all: 2, profile: 10 },
  },
  queues: {
    what: '200 workers of each blocking command, and five job queues, while upgrades and rollbacks follow each other',
    minutes: 25,
    files: ['e2e/proof/clients/queue-workers.test.ts', 'e2e/proof/clients/job-queues.test.ts'],
    effort: { all: 1, profile: 5 },
  },
  builds: {
    what: 'what differs between engine builds, with every build that is here instead of two',
    minutes: 5,
    files: ofBuilds,
    effort: { usual: 0, all: 1, profile: 1 },
  },
  pair: {
    what: 'the upgrades of npm test, between other builds: --pair "redis 6.0 → valkey 8.1"',
    minutes: 10,
    files: [
      'e2e/acceptance/upgrade.test.ts',
      'e2e/acceptance/way-back.test.ts',
      'e2e/acceptance/killed.test.ts',
      'e2e/acceptance/clients.test.ts',
      'e2e/proof/upgrades/upgrade-ledger.test.ts',
      'e2e/proof/upgrades/way-back.test.ts',
      'e2e/proof/faults/kill-in-handover.test.ts',
    ],
    effort: { usual: 1, all: 1, profile: 1 },
  },
} as const satisfies Readonly<Record<string, Profile>>
export type ProfileName = keyof typeof profiles

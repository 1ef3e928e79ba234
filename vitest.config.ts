import { defineConfig } from 'vitest/config'
import { postgresHere } from './packages/server/test/postgres-here.ts'
import { plainReporter } from './tools/plain-reporter.ts'

const include = [
  'packages/*/src/**/*.test.ts',
  'ledger/src/**/*.test.ts',
  'demo/**/*.test.ts',
  'bench/**/*.test.ts',
  'e2e/**/*.test.ts',
  'proof/**/*.test.ts',
  '*.test.ts',
]

/** What they find depends on how long something takes: they run alone. */
const byTheClock = [
  'packages/proxy/src/forwarding/hostile.test.ts',
  'packages/proxy/src/forwarding/one-client.test.ts',
  'packages/proxy/src/listen/tls-floods.test.ts',
  'packages/server/src/http/https/tls-floods.test.ts',
  'packages/server/src/sessions/login-timing.test.ts',
  'ledger/src/sharded-load.test.ts',
  'ledger/src/start-load.test.ts',
]

/** They are about PostgreSQL. */
const onlyOnPostgres = [
  'packages/server/src/operator/copy-embedded.test.ts',
  'packages/server/src/store/{copy-store,open-postgres,postgres-access,postgres-faults,postgres-cuts,prove-postgres}.test.ts',
]

/** Done a second time with the state in PostgreSQL: what reads and writes it, not what takes its time elsewhere (hashing, packages, TLS). */
const onPostgres = [
  'packages/server/src/actions/{actions,chosen-actions,action-events-store,follow,orders}.test.ts',
  'packages/server/src/events/**/*.test.ts',
  'packages/server/src/audit/{audit-counter,flood,seal-audit}.test.ts',
  'packages/server/src/{cluster,databases,leases,roles,users}/**/*.test.ts',
  'packages/server/src/sessions/{judged-tries,login-lanes,session-at-two-servers}.test.ts',
  'packages/server/src/http/{secrets,hostile}.test.ts',
  'packages/server/src/store/{storable,old-rows}.test.ts',
  ...onlyOnPostgres,
]

export default defineConfig({
  ssr: { resolve: { conditions: ['@fairlead/source', 'node'] } },
  resolve: { conditions: ['@fairlead/source'] },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'by two',
          include,
          exclude: [...byTheClock, ...onlyOnPostgres],
          // Real engines on two cores: two files at a time, because most of it is waiting.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'on PostgreSQL',
          // Set-up has said so where there is none.
          include: postgresHere() === null ? [] : onPostgres,
          exclude: byTheClock,
          maxWorkers: 2,
          globalSetup: 'packages/server/test/postgres-for-all.ts',
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: byTheClock, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
    // Of those that say so themselves (test.concurrent), because most of their time they wait.
    maxConcurrency: 2,
    reporters: ['default', plainReporter()],
    // 4,700 tests on real engines and two cores: in most long runs one of them meets a moment of the machine that it does not stand. It gets a
    // second go, and the last lines name it, to be looked at: a test that is named in two runs has a fault. What a test says of the promises to
    // clients counts at once.
    retry: { count: 1, condition: /^(?!.*\b(lost|duplicated|fullSyncs|reconnects|twice)\b)/s },
    // Waits of `expect.poll` end as soon as what they wait for is true: after the default of 1 s tests failed on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // A hung test costs this once, so no test has a shorter one of its own. Beside other work on two cores a test on a whole Fairlead took more than 60 s.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})

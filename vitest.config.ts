import { defineConfig } from 'vitest/config'
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
  'packages/server/src/sessions/login-timing.test.ts',
  'ledger/src/sharded-load.test.ts',
  'ledger/src/start-load.test.ts',
]

export default defineConfig({
  ssr: { resolve: { conditions: ['@fairlead/source', 'node', 'import', 'default'] } },
  resolve: { conditions: ['@fairlead/source'] },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'by two',
          include,
          exclude: byTheClock,
          // Real engines on two cores: two files at a time, because most of it is waiting.
          maxWorkers: 2,
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
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})

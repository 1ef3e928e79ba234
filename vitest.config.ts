import { defineConfig } from 'vitest/config'
import { plainReporter } from './tools/plain-reporter.ts'

export default defineConfig({
  ssr: { resolve: { conditions: ['@fairlead/source', 'node', 'import', 'default'] } },
  resolve: { conditions: ['@fairlead/source'] },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'ledger/src/**/*.test.ts',
      'demo/**/*.test.ts',
      'bench/**/*.test.ts',
      'e2e/**/*.test.ts',
      'proof/**/*.test.ts',
      '*.test.ts',
    ],
    // Real engines on two cores: files run one after the other, so that a test's deadline measures the test.
    fileParallelism: false,
    // Of those that say so themselves (test.concurrent), because most of their time they wait.
    maxConcurrency: 2,
    reporters: ['default', plainReporter()],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})

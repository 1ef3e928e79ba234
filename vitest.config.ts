import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { postgresHere } from './packages/server/test/postgres-here.ts'
import { plainReporter } from './tools/plain-reporter.ts'

type Options = TestProjectInlineConfiguration['test']

/** The folder of a test is its tier: docs/testing.md. Tiers run one after the other. */
const tiers = ['unit', 'component', 'acceptance', 'proof'] as const

function tier(name: (typeof tiers)[number], include: readonly string[], options: Options = {}) {
  const sequence = { groupOrder: tiers.indexOf(name) }
  return { extends: true as const, test: { name, include: [...include], sequence, ...options } }
}

/**
 * With two workers, a quarter of two cores is idle: these tests wait for engines. Files of a worker share
 * their modules: a process and imports for each file would take a third longer.
 */
const waiting: Options = { maxWorkers: 5, isolate: false }

/** The same tests on PostgreSQL: what is stored. Set-up has said so where there is none. */
function onPostgres(name: (typeof tiers)[number], include: readonly string[], options: Options = {}) {
  const project = tier(name, postgresHere() === null ? [] : include, {
    ...options,
    globalSetup: 'packages/server/test/postgres-for-all.ts',
  })
  return { ...project, test: { ...project.test, name: `${name} on PostgreSQL` } }
}

export default defineConfig({
  ssr: { resolve: { conditions: ['@fairlead/source', 'node'] } },
  resolve: { conditions: ['@fairlead/source'] },
  test: {
    projects: [
      tier('unit', ['{packages/*,ledger}/src/**/*.test.ts', '{bench,demo,proof,tools}/**/*.test.ts'], {
        setupFiles: 'tools/tiers/unit.ts',
        isolate: false,
      }),
      tier('component', ['{packages/*,ledger}/test/component/**/*.test.ts'], waiting),
      onPostgres('component', ['packages/server/test/component/stored/**/*.test.ts'], waiting),
      // A worker keeps its Fairlead from file to file: e2e/support/shared-fairlead.ts.
      tier('acceptance', ['e2e/acceptance/**/*.test.ts'], { isolate: false }),
      tier('proof', ['e2e/proof/!(postgresql)/**/*.test.ts'], { maxWorkers: 3 }),
      onPostgres('proof', ['e2e/proof/postgresql/**/*.test.ts'], { maxWorkers: 3 }),
    ],
    // Real engines on two cores: most of a test is waiting.
    maxWorkers: 2,
    maxConcurrency: 2,
    retry: 0,
    unstubEnvs: true,
    // Which tests may have it, and how many have, is in tools/check/tests.ts.
    tags: [{ name: 'machine', retry: 1, description: 'may meet a moment of the machine' }],
    reporters: ['default', plainReporter()],
    // Waits end as soon as what they wait for is true: after the default of 1 s tests fail on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // A hung test costs this once. Others take up to 95 s on a slow machine of two cores.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A worker ends the processes that its fixtures have started.
    teardownTimeout: 60_000,
  },
})

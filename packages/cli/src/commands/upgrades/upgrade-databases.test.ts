import { safeDefaults } from '@fairlead/api'
import { afterEach, describe, expect, test } from 'vitest'
import type { Context } from '../../link/open-context.ts'
import { upgradeDatabases } from './upgrade-databases.ts'
import type { UpgradeOptions, UpgradeRequest } from './upgrade-request.ts'

const redis = { engine: 'redis', engine_version: '7.0.15' }
const valkey = { engine: 'valkey', engine_version: '9.1.2' }
const standby = { rollback_window: safeDefaults.rollback_window }
const facts = {
  redundancy_min: 1,
  way_back: { from: null, until: null, afterwards: { possible: false, why: 'redis 7.0.15 cannot read it' } },
  handovers: 0,
  memory_needed: 1,
  memory_free: 2,
  disk_needed: 1,
  disk_free: 2,
  outage_ms: 0,
  lanes: [],
  risks: [],
}
const planOf = (trial: object | undefined, obstacles: readonly object[]) => {
  const isStarted = trial === undefined || ('ok' in trial && trial.ok === true)
  const change = {
    change: true,
    possible: isStarted && obstacles.length === 0,
    obstacles,
    trial,
    basis: 'b',
    modules: [],
    duration: { ms: 1 },
    unproven: [],
  }
  return { ...valkey, ...facts, ...change, write_stop_ms: { typical: 1, longest: 2 } }
}

/** Runs the command against a database, and returns the requests, the last words and the exit code. */
async function run(
  options: Partial<UpgradeOptions>,
  {
    best,
    trial,
    obstacles = [],
  }: { readonly best?: object | null; readonly trial?: object; readonly obstacles?: readonly object[] },
) {
  const bodies: UpgradeRequest[] = []
  const said: string[] = []
  const database = { uid: 7, name: 'orders', ...redis, ...(best !== undefined && { upgradable_to: best }) }
  const api = {
    getDatabase: async () => database,
    listUpgradeTargets: async () => [],
    upgradeDatabase: async ({ body }: { readonly body: UpgradeRequest }) => {
      bodies.push(body)
      const stays = body.keep_engine_version === true
      return { plan: stays ? { change: false, possible: true, modules: [] } : planOf(trial, obstacles) }
    },
  }
  const terminal = {
    out: () => undefined,
    say: (text: string) => void said.push(text),
    glyphs: { arrow: '->' },
    columns: 200,
  }
  const context = { link: async () => ({ api }), answer: { form: 'table' }, terminal }
  const all = { canary: true, module: [], set: [], wait: 'served', ...options }
  // It uses no more of them.
  await upgradeDatabases(context as unknown as Context, ['7'], all as UpgradeOptions)
  return { bodies, said: said.join(''), code: process.exitCode }
}

afterEach(() => {
  process.exitCode = undefined
})

describe('without --to', () => {
  test('an upgrade goes to the recommended build of all flavours', async () => {
    const { bodies } = await run({ dryRun: true }, { best: valkey, trial: { ok: true, start_ms: 1 } })
    expect(bodies).toEqual([{ engine_version: 'valkey-9.1.2', ...standby }])
  })

  test('a database that no build is better for stays on its own', async () => {
    const { bodies, said } = await run({ dryRun: true }, { best: null })
    expect(bodies).toEqual([{ keep_engine_version: true, ...standby }])
    expect(said).not.toContain('Start it')
  })

  test('the server chooses while it does not know its builds, and for latest', async () => {
    expect((await run({ dryRun: true }, {})).bodies).toEqual([standby])
    expect((await run({ dryRun: true, to: 'latest' }, { best: valkey })).bodies).toEqual([standby])
  })
})

describe('the way back', () => {
  test('is kept until a person finalizes, unless another window is asked for or data may be discarded', async () => {
    const asked = async (options: Partial<UpgradeOptions>) =>
      (await run({ dryRun: true, to: '9.1', ...options }, {})).bodies[0]?.rollback_window
    expect(await asked({})).toBe('until_finalized')
    expect([await asked({ rollbackWindow: '15m' }), await asked({ rollbackWindow: '0' })]).toEqual([900, 0])
    expect(await asked({ mayDiscardData: true })).toBeUndefined()
  })

  test('is asked for where the command waits for its end, which only a person brings about', async () => {
    await expect(run({ to: '9.1', wait: 'finalized' }, {})).rejects.toMatchObject({ exit: 'usage' })
  })
})

describe('while another action runs', () => {
  test('a dry run says why it would be refused, and fails', async () => {
    const busy = {
      error_code: 'db_busy',
      message: 'another change of database orders is in progress',
      field: null,
    }
    const { said, code } = await run({ dryRun: true, to: '9.1' }, { obstacles: [busy] })
    expect([said.includes('Start it'), code]).toEqual([false, 3])
  })
})

test('a restart without a build goes to the recommended build, like an upgrade, or stays', async () => {
  const restart = { dryRun: true, restart: true }
  const bodies = [await run(restart, { best: valkey }), await run(restart, { best: null })].map(
    (one) => one.bodies[0],
  )
  expect(bodies).toMatchObject([
    { force_restart: true, engine_version: 'valkey-9.1.2' },
    { force_restart: true, keep_engine_version: true },
  ])
})

describe('a target that does not start as the database needs it', () => {
  const trial = { ok: false, why: 'the module cannot be loaded', start_ms: 0 }

  test('fails a dry run, which offers no start', async () => {
    const { said, code } = await run({ dryRun: true, exitCode: true, to: '9.1' }, { trial })
    expect([said.includes('Start it'), code]).toEqual([false, 3])
  })

  test('is refused before it is asked for', async () => {
    await expect(run({ to: '9.1' }, { trial })).rejects.toMatchObject({
      exit: 'refused',
      code: 'target_does_not_start',
    })
  })
})

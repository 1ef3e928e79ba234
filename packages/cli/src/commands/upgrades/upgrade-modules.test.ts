import { expect, test } from 'vitest'
import type { Context } from '../../link/open-context.ts'
import { upgradeModules } from './upgrade-modules.ts'
import type { UpgradeOptions } from './upgrade-request.ts'

/** Runs the command against a database with these modules, and returns the requests and the output. */
async function asked(has: readonly string[], modules: readonly string[]) {
  const bodies: unknown[] = []
  let printed = ''
  const api = {
    getDatabase: async () => ({
      uid: 7,
      name: 'orders',
      engine: 'valkey',
      engine_version: '8.1.1',
      module_list: has.map((module_name) => ({ module_name })),
    }),
    upgradeDatabase: async ({ body }: { readonly body: unknown }) => {
      bodies.push(body)
      return { plan: { change: false } }
    },
  }
  const context = {
    link: async () => ({ api }),
    answer: { form: 'table' },
    terminal: {
      out: (text: string) => {
        printed += text
      },
    },
  }
  const options = { canary: true, module: [], set: [], wait: 'served', rollbackWindow: '15m' } as const
  // It uses no more of them.
  await upgradeModules(context as unknown as Context, '7', modules, options as UpgradeOptions)
  return { bodies, printed }
}

test('all modules that a database has are asked for where none is named, and its build stays', async () => {
  const keep = { keep_engine_version: true, rollback_window: 900 }
  expect(await asked(['search', 'tally'], [])).toEqual({
    bodies: [{ ...keep, modules: [{ module_name: 'search' }, { module_name: 'tally' }] }],
    printed: 'orders runs valkey 8.1.1: there is nothing to change.\n',
  })
  expect((await asked(['search', 'tally'], ['tally=STEP 2'])).bodies).toEqual([
    { ...keep, modules: [{ module_name: 'tally', new_module_args: 'STEP 2' }] },
  ])
})

test('a database without modules is refused, and nothing is asked for', async () => {
  await expect(asked([], [])).rejects.toMatchObject({ exit: 'refused', message: 'orders has no modules' })
})

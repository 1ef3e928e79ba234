import { expect, test } from 'vitest'
import { requestOf, type UpgradeChoice } from './upgrade-choice.ts'

const choice: UpgradeChoice = {
  ...{
    to: 'valkey-9.1.2',
    window: 'until_finalized',
    supervised: false,
    roles: false,
    modules: true,
    parallel: '',
  },
}

test('what is chosen on the page is the request that the API takes', () => {
  const module_list = [{ module_id: 'm', module_name: 'tally', semantic_version: '1.0.0' }]
  expect(requestOf(choice, { module_list })).toEqual({
    engine_version: 'valkey-9.1.2',
    rollback_window: 'until_finalized',
    modules: [{ module_name: 'tally' }],
  })
  const other = { ...choice, to: 'same', window: '900', supervised: true, parallel: '2' }
  expect(requestOf(other, { module_list: [] })).toEqual({
    ...{ keep_engine_version: true, force_restart: true, rollback_window: 900 },
    ...{ supervised: true, parallel_shards_upgrade: 2 },
  })
})

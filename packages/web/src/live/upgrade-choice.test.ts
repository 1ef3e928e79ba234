import { expect, test } from 'vitest'
import { choiceOf, requestOf, type UpgradeChoice } from './upgrade-choice.ts'

const choice: UpgradeChoice = {
  to: 'valkey-9.1.2',
  window: 'until_finalized',
  supervised: false,
  roles: false,
  modules: true,
  parallel: '',
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
    keep_engine_version: true,
    force_restart: true,
    rollback_window: 900,
    supervised: true,
    parallel_shards_upgrade: 2,
  })
})

test('an address chooses nothing that the page does not show', () => {
  const link = new URLSearchParams('to=valkey-9.1.2&window=1&parallel=3&roles')
  expect(choiceOf(link)).toMatchObject({ window: 'until_finalized', parallel: '', roles: true })
  const known = new URLSearchParams('window=900&parallel=4')
  expect(choiceOf(known)).toMatchObject({ window: '900', parallel: '4' })
})

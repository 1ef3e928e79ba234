import { expect, test } from 'vitest'
import { type UpgradeOptions, upgradeRequest } from './upgrade-request.ts'

test('a rollback window has a unit: ten seconds and ten minutes are not the same way back', () => {
  const ask = (rollbackWindow: string) =>
    upgradeRequest({ module: [], set: [], canary: true, rollbackWindow } as unknown as UpgradeOptions)
  expect(ask('10m')).toMatchObject({ rollback_window: 600 })
  expect(ask('0')).toMatchObject({ rollback_window: 0 })
  expect(() => ask('10')).toThrow('--rollback-window: 10 has no unit')
})

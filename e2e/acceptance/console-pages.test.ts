import { describe, expect } from 'vitest'
import { chromiumHere } from '../../proof/browser/chromium.ts'
import { addressesOf, consoleRoutes } from '../../proof/browser/console-routes.ts'
import { findBarriers } from '../../proof/browser/find-barriers.ts'
import { openConsoleOf } from '../../proof/browser/open-console.ts'
import { visit } from '../../proof/browser/visit.ts'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { beginUpgrade, untilWindow } from '../../proof/way-back.ts'
import { findCut, openAll, widthOf } from '../support/page-faults.ts'
import { test } from '../support/shared-fairlead.ts'

/** Other widths, states and colours are in e2e/proof/console/every-page.test.ts. */
describe.skipIf(chromiumHere() === null)('every page of the console', () => {
  test('is without barriers, and cuts nothing on a phone and on a desk', async ({ fairlead }) => {
    const upgrade = await beginUpgrade(fairlead, usualPair())
    await createDatabase(fairlead, {
      name: `${freshName('a-name-as-long-as-the-name-of-a-database-may-be')}-63`,
      memory_size: 64 << 20,
    })
    await untilWindow(fairlead, upgrade)
    await using here = await openConsoleOf(fairlead)
    const { page, admin } = here
    const values = { databases: String(upgrade.uid), actions: upgrade.action, access: '1', roles: '1' }
    for (const address of [...addressesOf(consoleRoutes(), values), '/nothing']) {
      await visit(page, fairlead.url + address)
      await openAll(page)
      expect.soft(await findBarriers(page), address).toEqual([])
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        expect.soft(await widthOf(page), `${address} in ${width}`).toBeLessThanOrEqual(width)
        expect.soft(await findCut(page), `${address} in ${width}`).toEqual([])
      }
    }
    expect(admin.faults).toEqual([])
    await fairlead.api.finalizeAction({ params: { uid: upgrade.action } })
    await fairlead.untilEnded(upgrade.action)
  })
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { visit } from '../../../proof/browser/visit.ts'
import { build } from '../../../proof/engine-pairs.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { beginUpgrade, untilWindow } from '../../../proof/way-back.ts'
import { create, kill, primaryOf, serves } from '../../support/kill-shards.ts'
import { widthOf } from '../../support/page-faults.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

describe.skipIf(chromiumHere() === null)('whether databases are well, in a browser', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let page: Page

  beforeAll(async () => {
    here = await openConsole()
    ;({ fairlead, page } = here)
  })
  afterAll(() => here?.[Symbol.asyncDispose]())
  const card = (name: string) =>
    page.locator('section', { has: page.getByRole('heading', { name, exact: true }) })

  test('the overview says of each database its traffic, memory, replicas with their link, and errors', async () => {
    const uid = await create(fairlead, { name: 'orders', memory_size: 64 << 20 })
    await serves(fairlead, uid)
    await visit(page, fairlead.url)
    const row = card('Health').getByRole('row', { name: /^orders/ })
    await row.getByRole('cell', { name: /^1 linked/ }).waitFor()
    await row.getByRole('cell', { name: /MiB; data up to 64 MiB/ }).waitFor()
    await row.getByRole('cell', { name: '0', exact: true }).first().waitFor()
    await card('Health').getByText('every database is active').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await widthOf(page)).toBeLessThanOrEqual(390)
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('a replaced primary needs a person until one has seen it, and stays in the activity of its database', async () => {
    await kill(fairlead, 1)
    await until('the replica is primary', async () => (await primaryOf(fairlead, 1)) === 2)
    const need = card('Needs you').getByRole('listitem').filter({ hasText: 'primary replaced' })
    expect(await findBarriers(page)).toEqual([])
    await need.getByRole('button', { name: 'I have seen it' }).click()
    await need.waitFor({ state: 'detached' })
    await visit(page, fairlead.url)
    await card('Recent').getByText('primary replaced').waitFor()
    expect(await need.count()).toBe(0)
    expect(await fairlead.api.listLosses({})).toEqual([])
    await visit(page, `${fairlead.url}/databases/orders`)
    await card('Activity').getByText('primary replaced').waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  test('in a rollback window no page says that the database changes, and the end of the window is named', async () => {
    const pair = { from: build('valkey', '8.0'), to: build('valkey', '8.1') }
    const upgrade = await beginUpgrade(fairlead, pair)
    await untilWindow(fairlead, upgrade)
    for (const address of ['', '/databases', `/databases/${upgrade.uid}`]) {
      await visit(page, fairlead.url + address)
      await page.locator('.mark[data-sign=waits]').first().waitFor()
      expect(await page.locator('.mark[data-sign=changing]').count(), address).toBe(0)
    }
    expect(here.admin.faults).toEqual([])
  })
})

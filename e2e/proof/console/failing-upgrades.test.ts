import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { stickUpgrade, stuckWords } from '../../../proof/browser/stick-upgrade.ts'
import { visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { libraryOfOldDays } from '../../../proof/library-of-old-days.ts'
import { breakBuild, mendBuild, type OwnEngines, ownEngines } from '../../../proof/own-engines.ts'
import { asAdmin } from '../../../proof/roles.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const [redis70, valkey80, valkey81] = [build('redis', '7.0'), build('valkey', '8.0'), build('valkey', '8.1')]

describe.skipIf(chromiumHere() === null)('what cannot be upgraded, in a browser', () => {
  const owned = new AsyncDisposableStack()
  let engines: OwnEngines
  let here: OpenConsole
  let fairlead: Fairlead
  let page: Page

  beforeAll(async () => {
    engines = owned.use(ownEngines([redis70, valkey81], valkey80))
    here = owned.use(await openConsole({ env: { FAIRLEAD_ENGINES: engines.folder } }))
    ;({ fairlead, page } = here)
    await createDatabase(fairlead, { name: 'orders', memory_size: 64 << 20, engine_version: redis70 })
  })
  afterAll(() => owned.disposeAsync())

  test('an upgrade that is stuck says why, that clients are served, what is safest, and what to do next', async () => {
    const { uid } = await createDatabase(fairlead, {
      name: 'billing',
      memory_size: 64 << 20,
      engine_version: redis70,
    })
    const action = await stickUpgrade(fairlead, uid, { engines, to: valkey80 })
    await visit(page, `${fairlead.url}/actions/${action}`)
    await page.locator('[data-phase=stuck]').waitFor()
    const facts = page.locator('.safety')
    await facts.getByText(new RegExp(`^Shard \\d+ .*${stuckWords}`, 'i')).waitFor()
    const restart = page.locator('.step').filter({ hasText: 'Restart the replica' })
    await restart.filter({ hasText: 'failed' }).waitFor()
    await facts.getByText('served', { exact: true }).waitFor()
    await facts.getByText('No loss known').waitFor()
    await facts.getByText('nothing gets worse').waitFor()
    await facts.getByText('Way back', { exact: true }).waitFor()
    await facts.getByText('Remove the cause').waitFor()
    await facts.getByText('fairlead actions retry billing', { exact: true }).waitFor()
    await facts.getByRole('button', { name: 'Copy the command' }).waitFor()
    expect(await page.title()).toBe(`▲ billing · ${new URL(fairlead.url).host} · Fairlead`)
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg\+xml/)
    expect(await findBarriers(page)).toEqual([])
    mendBuild(engines.folder, valkey80)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('[data-outcome=completed]').waitFor()
  })

  test('a target that does not start says so in the words of the engine, and the upgrade is not offered', async () => {
    breakBuild(engines.folder, valkey80, 'out of luck today')
    await visit(page, `${fairlead.url}/databases/orders/upgrade`)
    await page.getByLabel(valkey80.replace('-', ' ')).check()
    await page.getByRole('button', { name: 'Dry run' }).click()
    const trial = page.locator('.trial')
    await trial.getByText(/out of luck today/).waitFor()
    expect(await trial.getAttribute('data-tone')).toBe('bad')
    expect(await page.getByRole('button', { name: /Start|Restart/ }).count()).toBe(0)
    expect(await findBarriers(page)).toEqual([])

    await page.getByLabel(valkey81.replace('-', ' ')).check()
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByRole('button', { name: 'Start the upgrade' }).waitFor()
    expect(await page.getByText('out of luck today').count()).toBe(0)
  })

  test('a dry run with nothing to do offers neither a start nor its command', async () => {
    await visit(page, `${fairlead.url}/databases/orders/upgrade?to=${redis70}`)
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.locator('.plan').waitFor()
    expect(await page.getByRole('button', { name: /Start|Restart|curl/ }).count()).toBe(0)
    expect(await findBarriers(page)).toEqual([])
  })

  test('an upgrade whose target cannot read the data ends red, with the words of the engine and what is kept', async () => {
    {
      using primary = await asAdmin(fairlead, 1)
      await primary.call('FUNCTION', 'LOAD', libraryOfOldDays)
    }
    await visit(page, `${fairlead.url}/databases/orders/upgrade`)
    await page.getByLabel(valkey81.replace('-', ' ')).check()
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByRole('button', { name: 'Start the upgrade' }).click()
    const headline = page.locator('[data-outcome=failed]')
    await headline.waitFor()
    expect(await headline.getAttribute('data-tone')).toBe('bad')
    await headline.getByText(/Failed loading library.*not_any_more/).waitFor()
    await headline.locator('.headline-kept').getByText(redis70.replace('-', ' ')).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    const log = headline.getByText('Short read')
    expect(await log.isVisible(), 'folded').toBe(false)
    await headline.locator('.headline-log summary').click()
    await log.waitFor()
    const steps = page.locator('.step')
    await steps.filter({ hasText: 'Add a shard' }).filter({ hasText: 'failed' }).waitFor()
    expect(await steps.filter({ hasText: 'Add a shard' }).getAttribute('data-state')).toBe('failed')
    expect(await page.title()).toBe(`▲ orders · ${new URL(fairlead.url).host} · Fairlead`)
    expect(await findBarriers(page)).toEqual([])
    expect(await fairlead.api.getDatabase({ params: { uid: 1 } })).toMatchObject({
      status: 'active',
      engine: 'redis',
      shard_list: [1, 2],
    })
  })

  test('what needs a person says the cause in one line, and what the engine wrote because of it where it is opened', async () => {
    await visit(page, fairlead.url)
    const more = page.getByText('Short read').first()
    const cause = page.getByText(/Failed loading library/).first()
    await cause.waitFor()
    expect(await more.isVisible()).toBe(false)
    await cause.click()
    await more.waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  test('no page broke its policy, threw, or asked another server', () => {
    expect(here.admin.faults).toEqual([])
  })
})

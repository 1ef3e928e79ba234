import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { addressesOf, consoleRoutes } from '../../../proof/browser/console-routes.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'
import { untilAction } from '../../../proof/way-back.ts'
import { findCut, openAll, widthOf } from '../../support/page-faults.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const routes = consoleRoutes()
/** Also what a page of 1280 pixels is at a zoom of 200 %. */
const widths = [390, 640, 768, 800, 900, 1101, 1280, 2560]
/** What the console asks of the API, but for the user who has signed in, and what is new. */
const questions = /\/v1\/(?!users\/self$|events)/

describe.skipIf(chromiumHere() === null)('every page of the console', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let page: Page
  let addresses: readonly string[]

  beforeAll(async () => {
    here = await openConsole()
    ;({ fairlead, page } = here)
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  /** To each page in turn, and what it must be like in every state. */
  async function lookAtAll(show: (address: string) => Promise<Page>, all = addresses): Promise<void> {
    for (const address of all) expect.soft(await findFaults(await show(address)), address).toEqual([])
  }

  test('is without barriers and as wide as a phone where there is nothing yet', async () => {
    const all = routes.filter((route) => !route.includes(':'))
    await lookAtAll(async (address) => {
      await visit(page, fairlead.url + address)
      return page
    }, all)
  })

  describe('with a database whose upgrade is in its window', () => {
    beforeAll(async () => {
      const { uid } = await createDatabase(fairlead, {
        name: 'orders',
        memory_size: 64 << 20,
        engine_version: build('valkey', '8.0'),
        replication: false,
        shards_count: 3,
      })
      await createDatabase(fairlead, {
        name: 'a-name-as-long-as-the-name-of-a-database-may-be-63-letters',
        memory_size: 64 << 20,
      })
      await fairlead.api.createUser({
        body: { name: 'eve', password: 'only-looks-at-it', role: 'cluster_viewer' },
      })
      const body = { engine_version: build('valkey', '8.1'), rollback_window: 'until_finalized' as const }
      const { action_uid: action = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
      await untilAction(fairlead, action, 'its window is open', ({ phase }) => phase === 'window')
      const values = { databases: 'orders', actions: action, access: '1', roles: '1' }
      addresses = [...addressesOf(routes, values), '/nothing']
    })

    test('is without barriers, light and dark', async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await lookAtAll(async (address) => {
          await visit(page, fairlead.url + address)
          return page
        })
      }
      await page.emulateMedia({ colorScheme: 'light' })
    })

    test('is never wider than its window and cuts no column, from a phone to a wall, and at a zoom of 200 %', async () => {
      for (const address of addresses) {
        await visit(page, fairlead.url + address)
        await openAll(page)
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 })
          expect.soft(await widthOf(page), `${address} in ${width}`).toBeLessThanOrEqual(width)
          expect.soft(await findCut(page), `${address} in ${width}`).toEqual([])
        }
      }
      await page.setViewportSize({ width: 1280, height: 900 })
    })

    test('moves nothing by itself where the system asks for that', async () => {
      await page.emulateMedia({ reducedMotion: 'reduce' })
      for (const address of addresses) {
        await visit(page, fairlead.url + address)
        expect.soft(await page.evaluate('document.getAnimations().length'), address).toBe(0)
      }
      await page.emulateMedia({ reducedMotion: null })
    })

    test('is without barriers while it waits for answers', async () => {
      const tab = await here.admin.tab(fairlead.url)
      await tab.route(questions, () => undefined)
      await lookAtAll(async (address) => {
        await tab.goto(fairlead.url + address)
        await tab.getByRole('heading', { level: 1 }).waitFor()
        return tab
      })
      await tab.close()
    })

    for (const [what, status, error_code] of [
      ['the server cannot answer', 500, 'internal_error'],
      ['the user may see nothing of it', 403, 'forbidden'],
    ] as const)
      test(`is without barriers when ${what}`, async () => {
        const json = { error_code, message: 'the reason, in one sentence', obstacles: [] }
        const tabs = new Map<string, Page>()
        for (const address of addresses) {
          const tab = await here.admin.tab(fairlead.url)
          tabs.set(address, tab)
          await tab.route(questions, (route) => route.fulfill({ status, json }))
          await tab.goto(fairlead.url + address)
        }
        await lookAtAll(async (address) => {
          const tab = tabs.get(address) ?? page
          const heading = tab.getByRole('heading', { level: 1 })
          await heading.waitFor().catch(async (cause: unknown) => {
            throw new Error(`${address} shows: ${await tab.locator('body').innerHTML()}`, { cause })
          })
          await tab.locator('.skeleton').first().waitFor({ state: 'detached' })
          return tab
        })
        await tabs.get('/databases')?.getByText('the reason, in one sentence').first().waitFor()
        for (const tab of tabs.values()) await tab.close()
      })

    test('is without barriers where there is not what the address names', async () => {
      const values = { databases: '999', actions: 'nothing', access: '999', roles: '999' }
      const named = addressesOf(
        routes.filter((route) => route.includes(':')),
        values,
      )
      await lookAtAll(async (address) => {
        await visit(page, fairlead.url + address)
        return page
      }, named)
    })

    test('is a tombstone after its database has been deleted under it', async () => {
      const { uid, action_uid } = await fairlead.api.createDatabase({
        body: { name: 'gone', memory_size: 64 << 20 },
      })
      await fairlead.untilEnded(action_uid)
      await visit(page, `${fairlead.url}/databases/gone`)
      await fairlead.api.deleteDatabase({ params: { uid } })
      await page.getByText('There is no such database').waitFor()
      expect(await findFaults(page)).toEqual([])
    })

    test('is without barriers, and keeps what it shows, while the server is away', async () => {
      const tabs = new Map<string, Page>()
      for (const address of addresses) {
        const tab = await here.admin.tab(fairlead.url)
        await visit(tab, fairlead.url + address)
        tabs.set(address, tab)
      }
      await fairlead.server.end('SIGKILL')
      await lookAtAll(async (address) => {
        const tab = tabs.get(address) ?? page
        await tab.locator('[data-live=stale]').waitFor()
        return tab
      })
      await fairlead.server.start()
      for (const tab of tabs.values()) await tab.locator('[data-live=live]').waitFor()
      for (const tab of tabs.values()) await tab.close()
    })

    test('broke its policy never, threw nothing, and asked no other server', () => {
      expect(here.admin.faults).toEqual([])
    })
  })
})

/**
 * What is wrong with a page as it is now: barriers, also with the colours of the system, and a phone that
 * would have to be moved sideways.
 */
async function findFaults(page: Page): Promise<readonly string[]> {
  const plain = await findBarriers(page)
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  const forced = await findBarriers(page)
  await page.emulateMedia({ forcedColors: null, reducedMotion: null })
  await page.setViewportSize({ width: 390, height: 844 })
  const width = await widthOf(page)
  await page.setViewportSize({ width: 1280, height: 900 })
  return [
    ...new Set([...plain, ...forced]),
    ...(width > 390 ? [`${width} pixels wide on a phone of 390`] : []),
  ]
}

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { heading } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { adminPassword, type Fairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

/** More stops than any page has before what is looked for. */
const STOPS = 80
const target = build('valkey', '8.1').replace('-', ' ')

describe.skipIf(chromiumHere() === null)('without a mouse', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let page: Page

  beforeAll(async () => {
    here = await openConsole({ signedIn: false })
    ;({ fairlead, page } = here)
    await createDatabase(fairlead, {
      name: 'orders',
      memory_size: 64 << 20,
      engine_version: build('valkey', '8.0'),
      replication: false,
    })
    await page.evaluate(`{
      globalThis.pointed = 0
      addEventListener('pointerdown', () => { pointed += 1 }, true)
    }`)
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  const keys = async (...pressed: readonly string[]) => {
    for (const key of pressed) await page.keyboard.press(key)
  }
  const focused = () =>
    page.evaluate<string>(`{
      const { activeElement: it } = document
      const words = it.labels?.[0]?.innerText ?? it.innerText ?? ''
      words.trim().replaceAll(/\\s+/g, ' ')
    }`)
  /** With Tab, as far as it takes, to what has these words. It must be seen where the focus is. */
  async function tabTo(words: RegExp): Promise<void> {
    const passed: string[] = []
    for (let stop = 0; stop < STOPS; stop += 1) {
      await keys('Tab')
      const name = await focused()
      if (words.test(name)) {
        expect(await page.evaluate(`document.activeElement.matches(':focus-visible')`)).toBe(true)
        return
      }
      passed.push(name)
    }
    throw new Error(`Tab does not reach ${words}; it passes ${[...new Set(passed)].join(' | ')}`)
  }
  /** Waits until an order may be given, and gives it. */
  async function order(words: RegExp): Promise<void> {
    await page.getByRole('button', { name: words, disabled: false }).waitFor()
    await tabTo(words)
    await keys('Enter')
  }

  test('a person signs in, finds a database, plans its upgrade, begins it, lets it go on, and finalizes it', async () => {
    await page.keyboard.type('admin')
    await keys('Tab')
    await page.keyboard.type(adminPassword)
    await keys('Enter')
    await heading(page, 'Overview')
    await keys('g', 'd')
    await page.getByRole('link', { name: 'orders' }).waitFor()
    await keys('j', 'Enter')
    await heading(page, 'orders')
    await tabTo(/^Upgrade…$/)
    await keys('Enter')

    await heading(page, 'Upgrade orders')
    await page.getByLabel(target).waitFor()
    await tabTo(/valkey|redis/)
    await until('the target is chosen', async () => {
      if ((await focused()).startsWith(target)) return true
      await keys('ArrowDown')
      return false
    })
    expect(await page.getByLabel(target).isChecked()).toBe(true)
    await tabTo(/^Stop before the first handover/)
    await keys('Space')
    await order(/^Dry run$/)
    await page.getByText('The target starts').waitFor()
    await order(/^Start the upgrade$/)

    await page.locator('[data-phase=ready]').waitFor()
    await order(/^Resume$/)
    await page.locator('[data-phase=window]').waitFor()
    await order(/^Finalize: stay on/)
    await page.getByRole('dialog').waitFor()
    expect(await focused()).toBe('Keep the way back')
    await tabTo(/^Finalize: stay on/)
    await keys('Enter')
    await page.getByText(/^Completed after/).waitFor()
    expect(await page.evaluate('pointed')).toBe(0)
    const [{ outcome } = { outcome: null }] = await fairlead.api.listDatabaseActions({
      params: { uid: 1 },
      query: { limit: 1 },
    })
    expect(outcome).toBe('completed')
    expect(here.admin.faults).toEqual([])
  })
})

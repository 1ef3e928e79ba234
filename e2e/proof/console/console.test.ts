import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import type { TestBrowser, Visitor } from '../../../proof/browser/open-browser.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { heading, press, signIn, visit } from '../../../proof/browser/visit.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { adminPassword, type Fairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

/** A whole upgrade and a browser on a busy machine. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

describe.skipIf(chromiumHere() === null)('in a browser', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let browser: TestBrowser
  let admin: Visitor
  let page: Page

  beforeAll(async () => {
    here = await openConsole({ signedIn: false })
    ;({ fairlead, browser, admin, page } = here)
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  test('a user signs in with its password, and with no other', async () => {
    await signIn(page, 'admin', 'not-the-password')
    await page.locator('[data-code=invalid_credentials]').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await signIn(page, 'admin', adminPassword)
    await heading(page, 'Overview')
    await page.locator('[data-live=live]').waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  test('a database is created, upgraded with a stop, and rolled back, by keys and mouse, on one page that is never loaded again', async () => {
    await page.evaluate('window.wasLoadedOnce = true')
    await page.getByRole('link', { name: 'Create a database', exact: true }).click()
    await heading(page, 'New database')
    // The build that the server recommends, not an old one.
    expect(await page.getByLabel('Engine').locator('option:checked').textContent()).toContain('recommended')
    await page.getByLabel('Name').fill('orders')
    await page.getByLabel('Engine').selectOption(build('valkey', '8.0'))
    await page.getByLabel('Memory in MiB').fill('64')
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Create' }).click()
    await heading(page, 'orders')
    await page.getByRole('link', { name: 'Upgrade…' }).click()

    await heading(page, 'Upgrade orders')
    await page.getByLabel(words(build('valkey', '8.1'))).check()
    await page.getByLabel('Stop before the first handover').check()
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByText('The target starts').waitFor()
    expect(await findBarriers(page)).toEqual([])
    const starts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/upgrade')) starts.push(request.url())
    })
    // Two clicks before the page is drawn again, as on a slow machine.
    await page.getByRole('button', { name: 'Start the upgrade' }).waitFor()
    await page.evaluate(`{
      const start = [...document.querySelectorAll('button')].find((one) => one.textContent === 'Start the upgrade')
      start.click()
      start.click()
    }`)

    await page.locator('[data-phase=ready]').waitFor()
    expect(starts).toHaveLength(1)
    expect(await findBarriers(page)).toEqual([])
    await press(page, 'Resume', 'Enter')
    await page.locator('[data-phase=window]').waitFor()
    await page.locator('.certificate').waitFor()
    await page.getByRole('img', { name: /^Replies of the endpoint/ }).waitFor()
    expect(await findBarriers(page)).toEqual([])

    await press(page, /^Roll back/, 'Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Stay as it is')
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await press(page, /^Roll back/, 'Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[data-outcome=rolled_back]').waitFor()
    expect(await page.evaluate('window.wasLoadedOnce')).toBe(true)
    const [{ outcome, certificates } = { outcome: null, certificates: [] }] =
      await fairlead.api.listDatabaseActions({ params: { uid: 1 }, query: { limit: 1 } })
    expect([outcome, certificates.length]).toEqual(['rolled_back', 2])
  })

  test('all tabs of a browser have one stream, and another tab takes it over', async () => {
    const second = await admin.tab(fairlead.url)
    const third = await admin.tab(`${fairlead.url}/databases`)
    for (const tab of [second, third]) await tab.locator('[data-live=live]').waitFor()
    await until('there is one stream', () => admin.streams() === 1)
    await page.close()
    page = third
    await until('another tab has it', () => admin.streams() === 1)
    const body = { name: 'noticed', memory_size: 64 << 20 }
    await fairlead.api.createDatabase({ body })
    await third.getByRole('link', { name: 'noticed' }).waitFor()
    await second.close()
  })

  test('a server that is killed turns orders off, and a page goes on by itself when it is back', async () => {
    await visit(page, `${fairlead.url}/databases/orders/upgrade`)
    await page.getByRole('button', { name: 'Dry run' }).click()
    const start = page.getByRole('button', { name: 'Start the upgrade' })
    await start.waitFor()
    await fairlead.server.end('SIGKILL')
    await page.locator('[data-live=stale]').waitFor()
    expect(await start.isDisabled()).toBe(true)
    expect(await findBarriers(page)).toEqual([])
    await fairlead.server.start()
    await page.locator('[data-live=live]').waitFor()
    await until('orders are on again', () => start.isEnabled())
  })

  test('a user who may only look sees no order', async () => {
    await fairlead.api.createUser({
      body: { name: 'eve', password: 'only-looks-at-it', role: 'cluster_viewer' },
    })
    const viewer = await browser.visitor()
    const tab = await viewer.tab(`${fairlead.url}/databases/orders`)
    await signIn(tab, 'eve', 'only-looks-at-it')
    await heading(tab, 'orders')
    await tab.getByText('valkey').first().waitFor()
    expect(await tab.getByRole('link', { name: 'Upgrade…' }).count()).toBe(0)
    expect(await tab.getByRole('button', { name: /Show, and note/ }).count()).toBe(0)
    expect(viewer.faults).toEqual([])
  })

  test('another user of the same browser sees nothing of the first, in no tab, and no revealed password', async () => {
    const shared = await browser.visitor()
    const left = await shared.tab(`${fairlead.url}/databases/orders`)
    await signIn(left, 'admin', adminPassword)
    await left.getByRole('button', { name: /Show, and note/ }).click()
    await left.getByText('••••••••').waitFor({ state: 'detached' })
    const access = await shared.tab(`${fairlead.url}/access`)
    await access.getByText('eve').waitFor()
    await access.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [left, access]) await tab.getByRole('button', { name: 'Sign in' }).waitFor()
    // A tab whose stream the server has ended before it hears of the sign-out says for a moment that its
    // session has ended.
    const textOf = (tab: Page) => tab.locator('body').innerText()
    await until('both tabs show the same', async () => (await textOf(left)) === (await textOf(access)))

    await access.goBack()
    await signIn(access, 'eve', 'only-looks-at-it')
    await access.getByText('view_all_users_info').waitFor()
    await heading(left, 'orders')
    for (const tab of [left, access]) {
      await tab.locator('.user').getByText('eve').waitFor()
      await tab.locator('[data-live=live]').waitFor()
    }
    expect(shared.faults).toEqual([])
  })

  test('a session that ends covers the page, and another user who signs in there never sees what the first saw', async () => {
    const shared = await browser.visitor()
    const tab = await shared.tab(`${fairlead.url}/access`)
    await signIn(tab, 'admin', adminPassword)
    const users = tab.getByRole('region', { name: 'Users' })
    await users.getByText('eve').waitFor()
    await tab.context().clearCookies()
    await tab.evaluate(`dispatchEvent(new Event('visibilitychange'))`)
    await tab.getByText('Your session has ended').waitFor()
    expect(await users.isVisible()).toBe(false)
    await tab.evaluate(`{
      globalThis.seen = []
      new MutationObserver(() => {
        const text = document.body.innerText
        if (text.includes('Password since')) seen.push(text)
      }).observe(document, { subtree: true, childList: true, attributes: true })
    }`)
    await signIn(tab, 'eve', 'only-looks-at-it')
    await tab.getByText('view_all_users_info').waitFor()
    expect(await tab.evaluate('seen')).toEqual([])
    expect(shared.faults).toEqual([])
  })

  test('a browser whose clock is four minutes late sees the server at once, and never says that it does not', async () => {
    const late = await browser.visitor()
    const tab = await late.tab('about:blank')
    await tab.addInitScript(`{
      const late = Date.now.bind(Date)
      Date.now = () => late() - 240_000
      globalThis.seen = new Set()
      new MutationObserver(() => seen.add(document.querySelector('.live-chip')?.dataset.live))
        .observe(document, { subtree: true, childList: true, attributes: true })
    }`)
    await tab.goto(`${fairlead.url}/databases/orders`)
    await signIn(tab, 'eve', 'only-looks-at-it')
    await tab.locator('[data-live=live]').waitFor()
    await tab.getByText(/asked (now|\d+ s ago)/).waitFor()
    expect(await tab.evaluate('[...seen]')).not.toContain('stale')
  })

  test('no page broke its policy, threw, or asked another server', () => {
    expect(admin.faults).toEqual([])
  })
})

/** "valkey-8.1.1" as the page shows it. */
function words(name: string): string {
  return name.replace('-', ' ')
}

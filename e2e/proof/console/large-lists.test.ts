import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { openBrowser, type Visitor } from '../../../proof/browser/open-browser.ts'
import { type FixtureServer, serveFixture } from '../../../proof/browser/serve-fixture.ts'
import { heading, visit } from '../../../proof/browser/visit.ts'
import { heapOf, watchPage } from '../../../proof/browser/watch-page.ts'
import { until } from '../../../proof/until.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

/** A line of a group. */
interface Place {
  readonly hasNumber: boolean
  /** To the right of its words, in pixels. */
  readonly left: number
  readonly isLagShown: boolean
}

/** The budget of the console, in MB. */
const HEAP_MB = 120

describe.skipIf(chromiumHere() === null)('with 2,000 databases and 10,000 actions', () => {
  const owned = new AsyncDisposableStack()
  let server: FixtureServer
  let visitor: Visitor
  let page: Page

  beforeAll(async () => {
    server = owned.use(await serveFixture({ databases: 2_000, actions: 10_000, groups: 64 }))
    const browser = owned.use(await openBrowser())
    visitor = await browser.visitor()
    page = await visitor.tab(server.url)
  })
  afterAll(() => owned.disposeAsync())

  const part = (name: string) => page.getByRole('navigation', { name: 'Pages of the list' }).getByText(name)
  const turn = (name: 'Next' | 'Previous') => page.getByRole('button', { name }).click()
  const names = () => page.getByRole('row').getByRole('link').allInnerTexts()

  test('the list of databases is gone through page by page, and Back leads to the page before', async () => {
    await visit(page, `${server.url}/databases`)
    await part('1–200').waitFor()
    await turn('Next')
    await part('201–400').waitFor()
    await turn('Next')
    await part('401–600').waitFor()
    expect((await names())[0]).toBe('database-0401')
    await page.goBack()
    await part('201–400').waitFor()
    await turn('Previous')
    await part('1–200').waitFor()
    await visit(page, `${server.url}/databases?page=9`)
    await part('1801–2000').waitFor()
    expect((await names()).at(-1)).toBe('database-2000')
  })

  test('a filter begins at its first page, and finds what no page that was shown had', async () => {
    await page.getByLabel('Filter by name or number').fill('database-19')
    // The page before shows some of them, too.
    await expect.poll(names).toHaveLength(100)
    await page.getByRole('link', { name: 'database-1999' }).waitFor()
    expect(new URL(page.url()).search).toBe('?q=database-19')
    await page.getByLabel('Filter by name or number').fill('')
    await part('1–200').waitFor()
    await page.getByLabel('Order').selectOption('By memory')
    await until('the largest comes first', async () => (await names())[0] === 'database-0007')
    await visit(page, `${server.url}/databases?version=redis-7.0.15`)
    await page.getByText('200 databases on this page').waitFor()
    expect((await names()).slice(0, 2)).toEqual(['database-0001', 'database-0004'])
    await page.getByLabel('Filter by name or number').fill('nothing is called this')
    await page.getByText('No database is like this').waitFor()
  })

  test('what counts only the first thousand databases says so', async () => {
    await visit(page, server.url)
    await page.getByText('of the first 1,000 databases').waitFor()
    await visit(page, `${server.url}/builds`)
    await page.getByText('the first 1,000 databases').waitFor()
  })

  test('the list of actions is gone through page by page, and filtered', async () => {
    await visit(page, `${server.url}/actions`)
    await part('1–100').waitFor()
    await turn('Next')
    await part('101–200').waitFor()
    await page.getByLabel('Status').selectOption('active')
    await until('one is active', async () => (await names()).length === 1)
    await visit(page, `${server.url}/actions?page=100`)
    await part('10001–10001').waitFor()
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
  })

  test('rows keep their places while an upgrade of 64 groups moves', async () => {
    await visit(page, `${server.url}/databases`)
    const before = await names()
    server.move(50)
    await heading(page, 'Databases')
    await page.getByRole('link', { name: 'Actions', exact: true }).click()
    await page.getByRole('link', { name: 'Databases', exact: true }).click()
    await part('1–200').waitFor()
    server.move(0)
    expect(await names()).toEqual(before)
  })

  test('what the page holds stays within its budget, however often it goes to and fro', async () => {
    await visit(page, server.url)
    const round = async () => {
      await page.getByRole('link', { name: 'Databases', exact: true }).click()
      await part('1–200').waitFor()
      await turn('Next')
      await part('201–400').waitFor()
      await page.getByRole('link', { name: 'Actions', exact: true }).click()
      await part('1–100').waitFor()
      await turn('Next')
      await part('101–200').waitFor()
    }
    for (let n = 0; n < 3; n += 1) await round()
    const before = await heapOf(page)
    for (let n = 0; n < 10; n += 1) await round()
    const after = await heapOf(page)
    expect(after).toBeLessThan(HEAP_MB)
    expect(after - before, `it grew from ${before} MB to ${after} MB`).toBeLessThan(5)
  })

  test('no page broke its policy, threw, or asked another server', () => {
    expect(visitor.faults).toEqual([])
  })
})

describe.skipIf(chromiumHere() === null)('while 64 groups move at 50 events a second', () => {
  const owned = new AsyncDisposableStack()
  let server: FixtureServer
  let page: Page

  beforeAll(async () => {
    server = owned.use(await serveFixture({ databases: 200, actions: 300, groups: 64 }))
    const browser = owned.use(await openBrowser())
    page = await (await browser.visitor()).tab(server.url)
  })
  afterAll(() => owned.disposeAsync())

  test('nothing on a page is moved by what is new, from its first picture on', async () => {
    const watched = await watchPage(page)
    server.move(50)
    for (const path of ['/', '/databases', '/databases/1', '/actions', '/actions/moving']) {
      const sent = server.sent()
      await visit(page, server.url + path)
      await until('each group has moved twice', () => server.sent() > sent + 128)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      expect.soft((await watched.seen()).moved, path).toEqual({})
    }
    server.move(0)
  })

  test('nothing on the page of a database is moved in a slow browser either, where answers are drawn one after the other', async () => {
    const slow = await page.context().newCDPSession(page)
    await slow.send('Emulation.setCPUThrottlingRate', { rate: 10 })
    const watched = await watchPage(page)
    for (let n = 0; n < 3; n += 1) {
      await visit(page, `${server.url}/databases/1`)
      await page.getByRole('heading', { name: 'Settings' }).waitFor()
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      expect.soft((await watched.seen()).moved).toEqual({})
    }
    await slow.detach()
  })

  test('on a phone a group that has no write stop yet has the room of that number for its words', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    server.move(0)
    await visit(page, `${server.url}/actions/moving`)
    await page.locator('.lane-row').first().waitFor()
    const places = await page.evaluate<
      readonly Place[]
    >(`[...document.querySelectorAll('.lane-row')].map((row) => {
      const [words, number, lag] = ['.lane-now', '.number', ':scope > :last-child'].map((each) => row.querySelector(each))
      return {
        hasNumber: number.textContent !== '',
        left: row.getBoundingClientRect().right - words.getBoundingClientRect().right,
        isLagShown: getComputedStyle(lag).display !== 'none',
      }
    })`)
    expect(places).toHaveLength(64)
    const [bare] = places.filter(({ hasNumber }) => !hasNumber)
    expect(bare?.left).toBeLessThan(1)
    expect(places.some(({ isLagShown }) => isLagShown)).toBe(false)
    expect(await page.locator('.lane-row', { hasText: 'not begun' }).count()).toBe(64)
    expect(await page.getByText('behind').count()).toBe(0)
    await page.setViewportSize({ width: 1280, height: 900 })
  })
})

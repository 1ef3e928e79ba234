import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { refuseTrial } from '../../../proof/browser/refuse-trial.ts'
import { heading, visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'
import { untilAction } from '../../../proof/way-back.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const [old, next] = [build('valkey', '8.0'), build('valkey', '8.1')]
const words = (name: string) => name.replace('-', ' ')

interface Cell {
  readonly label: string
  readonly inset: number
  readonly width: number
}

describe.skipIf(chromiumHere() === null)('what the console says in plain words', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let page: Page
  let action: string

  beforeAll(async () => {
    here = await openConsole()
    ;({ fairlead, page } = here)
    const { uid } = await createDatabase(fairlead, {
      ...{ name: 'orders', memory_size: 64 << 20, engine_version: old },
      ...{ replication: false, shards_count: 2 },
    })
    const body = {
      ...{ engine_version: next, rollback_window: 'until_finalized' as const },
      supervised: true,
    }
    const { action_uid = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    action = action_uid
    await untilAction(fairlead, action, 'it is ready', ({ phase }) => phase === 'ready')
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  const row = () => page.getByRole('row', { name: /^orders/ })

  test('while a database is upgraded, the list, its page and the overview say what serves and where it goes', async () => {
    await visit(page, `${fairlead.url}/databases`)
    await row()
      .getByRole('cell', { name: words(old), exact: true })
      .waitFor()
    await row()
      .getByRole('link', { name: `${words(next)} upgrading` })
      .waitFor()
    await visit(page, `${fairlead.url}/databases/orders`)
    await page.getByText(`upgrading: ${words(next)}`).waitFor()
    await visit(page, fairlead.url)
    await page.getByText('1 upgrading').waitFor()
  })

  test('of several groups, an upgrade that waits for its go says which are ready', async () => {
    await visit(page, `${fairlead.url}/actions/${action}`)
    await page.getByText('Ready for your go: 1 of 2 groups (group 0)').waitFor()
    await page.getByText('group 0 is ready, and the other group begins after it').first().waitFor()
    expect(await page.getByText('verything is ready').count()).toBe(0)
    // This browser does, in the tests.
    const notify = page.getByRole('button', { name: 'Notify me' })
    expect(await notify.getAttribute('aria-disabled')).toBe('true')
    await page.getByText('The browser refuses notifications of this address').waitFor()
  })

  test('in its window the list says that the new build serves, though the record has the old one', async () => {
    await fairlead.api.resumeAction({ params: { uid: action } })
    await untilAction(fairlead, action, 'its window is open', ({ phase }) => phase === 'window')
    await visit(page, `${fairlead.url}/databases`)
    await row()
      .getByRole('cell', { name: words(next), exact: true })
      .waitFor()
    await row()
      .getByRole('link', { name: `back to ${words(old)} way back kept` })
      .waitFor()
    await visit(page, `${fairlead.url}/actions/${action}`)
    await page.getByRole('button', { name: /^Finalize/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Pause' }).count(), 'it waits for a user already').toBe(0)
    expect(await fairlead.api.getDatabase({ params: { uid: 1 } })).toMatchObject({
      engine_version: old.replace('valkey-', ''),
    })
  })

  test('a list by version that has not as many as the overview counts says why', async () => {
    await visit(page, fairlead.url)
    await page
      .getByRole('listitem')
      .filter({ has: page.getByRole('link', { name: words(next), exact: true }) })
      .getByText('1 way back kept')
      .waitFor()
    await page.getByRole('link', { name: words(next), exact: true }).click()
    await page.getByText(`0 of 1 that ${words(next)} serves`).waitFor()
    await page.getByText('No database is like this').waitFor()
    await visit(page, `${fairlead.url}/databases?version=${old}`)
    await page.getByText('1 of these is served by another version by now').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('link', { name: 'upgrade that has not ended' }).click()
    await heading(page, 'Actions')
    await row().waitFor()
  })

  test('the write stops of an action can be read on a phone, words and dots', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await visit(page, `${fairlead.url}/actions/${action}`)
    const sizes = await page.evaluate<{ readonly words: number; readonly dot: number }>(`{
      const heightOf = (selector) => document.querySelector(selector).getBoundingClientRect().height
      ;({ words: heightOf('.strip text'), dot: heightOf('.strip circle') })
    }`)
    expect(sizes.words).toBeGreaterThanOrEqual(11)
    expect(sizes.dot).toBeGreaterThanOrEqual(6)
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('an upgrade that was rolled back says to what, and the audit does not say that it failed', async () => {
    await fairlead.api.rollbackAction({ params: { uid: action } })
    await fairlead.untilEnded(action)
    await visit(page, `${fairlead.url}/actions/${action}`)
    await page.getByText(new RegExp(`^Rolled back to ${words(old)} after`)).waitFor()
    await visit(page, `${fairlead.url}/audit?type=bdb%20action%20rolled%20back,%20as%20ordered`)
    await page.getByRole('cell', { name: 'bdb action rolled back, as ordered', exact: true }).waitFor()
    expect(await page.getByText('bdb action failed').count()).toBe(0)
  })

  test('on a phone the answer of a dry run comes first, and what was chosen is one line above it', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    const address = `${fairlead.url}/databases/orders/upgrade?to=${next}`
    const choice = page.getByRole('group', { name: 'Way back' })
    const dryRun = page.getByRole('button', { name: 'Dry run', exact: true })
    const isInSight = async (words: string | RegExp) => {
      const box = await page.getByText(words).first().boundingBox()
      return box !== null && box.y >= 0 && box.y + box.height < 844 - 56
    }
    await visit(page, address)
    await dryRun.click()
    await page.getByText('The target starts').waitFor()
    expect(await isInSight('The target starts')).toBe(true)
    expect(await isInSight(/^2 times, about/)).toBe(true)
    await page.getByText('Way back: until I finalize', { exact: true }).waitFor()
    expect(await choice.isVisible()).toBe(false)
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Change the choice' }).click()
    await choice.getByText('24 hours').click()
    await page.getByText('Something else is chosen since this plan').waitFor()
    await refuseTrial(page)
    await dryRun.click()
    await page.getByText('The target does not start').waitFor()
    expect(await isInSight('The target does not start')).toBe(true)
    await page.getByText('Way back: 24 hours', { exact: true }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.setViewportSize({ width: 1280, height: 900 })
    expect(await choice.isVisible()).toBe(true)
  })

  test('the form of a user says the rule for passwords as it is now, and the page of the cluster how it is changed', async () => {
    await visit(page, `${fairlead.url}/access/new`)
    const field = page.getByLabel('Password')
    await page.getByText('at least 8 characters').waitFor()
    expect(await field.getAttribute('aria-describedby')).toBe('password-rule')
    await visit(page, `${fairlead.url}/cluster`)
    const command = page.getByText(/^fairlead api PUT \/v1\/cluster -d '\{"password_min_length": 12\}'$/)
    await command.waitFor()
    const [, body = ''] = (await command.innerText()).split("'")
    await fairlead.api.updateCluster({ body: { ...JSON.parse(body), password_complexity: true } })
    await page.getByText('at least 12 characters, with a capital').waitFor()
    await visit(page, `${fairlead.url}/access/new`)
    await page.getByText('at least 12 characters, with a capital').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await fairlead.api.updateCluster({ body: { password_min_length: 8, password_complexity: false } })
  })

  test('where data is kept on disk, the page says what a loss of power costs', async () => {
    await visit(page, `${fairlead.url}/databases/new`)
    const choice = page.getByLabel('On disk')
    await page.getByText('up to about a second of acknowledged writes may be lost').waitFor()
    await choice.selectOption('Each write, before its answer (slower)')
    await page.getByText('no acknowledged write is lost').waitFor()
    expect(await choice.getAttribute('aria-describedby')).toBe('persistence-cost')
    expect(await findBarriers(page)).toEqual([])
    await visit(page, `${fairlead.url}/databases/orders`)
    await page.getByText('nothing on disk: all data is lost when the machine loses power').first().waitFor()
  })

  test('a build with known holes says so where it is chosen, and a plan that its write stop has no bound', async () => {
    await visit(page, `${fairlead.url}/databases/orders/upgrade`)
    await page
      .getByText(/known holes?: clients can/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page
      .getByText(
        /about 12 ms, seldom above 60 ms: estimated from measurements on an idle machine; there is no bound/,
      )
      .waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  test('the words of the eviction policy are the same in the row and in the form', async () => {
    await visit(page, `${fairlead.url}/databases/orders`)
    const chosen = page.getByLabel('When it is full, it drops').locator('option:checked')
    const said = (await chosen.textContent()) ?? ''
    expect(said).toContain(': ')
    await page.getByRole('definition').getByText(said, { exact: true }).waitFor()
  })

  test('one Escape leaves the search for a page, also with words in it', async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Page, database, action or order' }).fill('or')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('the button of the theme says which one it leads to', async () => {
    await page.getByRole('button', { name: 'Use dark theme', exact: true }).click()
    await page.getByRole('button', { name: 'Use light theme', exact: true }).click()
    await page.getByRole('button', { name: 'Use dark theme', exact: true }).waitFor()
  })

  test('on a phone every page is reached by its name', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await visit(page, fairlead.url)
    const rail = page.getByRole('navigation', { name: 'Pages', exact: true })
    for (const name of ['Overview', 'Databases', 'Actions', 'Nodes']) {
      const box = await rail.getByRole('link', { name, exact: true }).getByText(name).boundingBox()
      expect(box?.width ?? 0, name).toBeGreaterThan(20)
    }
    for (const name of ['Builds', 'Modules', 'Access', 'Audit', 'Cluster']) {
      await rail.getByRole('button', { name: 'More' }).click()
      await rail.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name: new RegExp(`${name}$`, 'i') }).waitFor()
      expect(await rail.getByRole('link', { name, exact: true }).count(), 'the menu is closed').toBe(0)
    }
    await rail.getByRole('button', { name: 'More' }).click()
    expect(await findBarriers(page)).toEqual([])
    await rail.getByRole('button', { name: 'Use dark theme' }).waitFor()
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('on a phone the words in an empty field are whole, and so is the name of the cluster', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    for (const path of ['/databases', '/audit']) {
      await visit(page, fairlead.url + path)
      const cut = await page.evaluate<readonly string[]>(`{
        const pen = document.createElement('canvas').getContext('2d')
        const isCut = (field) => {
          const { font, paddingLeft, paddingRight } = getComputedStyle(field)
          pen.font = font
          const room = field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)
          return pen.measureText(field.placeholder).width > room
        }
        const name = document.querySelector('.cluster-name')
        const fields = [...document.querySelectorAll('input[placeholder]')]
        ;[...fields.filter(isCut).map(({ placeholder }) => placeholder), ...(name.scrollWidth > name.clientWidth ? ['cluster'] : [])]
      }`)
      expect(cut, path).toEqual([])
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('on a tablet every page has its name below its icon', async () => {
    const rail = page.getByRole('navigation', { name: 'Pages', exact: true })
    for (const width of [641, 1100]) {
      await page.setViewportSize({ width, height: 900 })
      for (const link of await rail.getByRole('link').filter({ hasNotText: 'Fairlead' }).all()) {
        const name = await link.innerText()
        const [own, word] = [await link.boundingBox(), await link.getByText(name).boundingBox()]
        expect(word?.width ?? 0, name).toBeGreaterThan(20)
        expect(word?.width ?? 0, name).toBeLessThanOrEqual(own?.width ?? 0)
      }
      expect(await findBarriers(page)).toEqual([])
    }
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('on a phone each row of a list is a card, which names what stands in it and leaves out nothing', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await visit(page, `${fairlead.url}/databases`)
    const cells = await page.evaluate<readonly Cell[]>(`{
      const row = [...document.querySelectorAll('tbody tr')].find(({ textContent }) => textContent.startsWith('orders'))
      ;[...row.querySelectorAll('td')].map((cell) => {
        const text = document.createRange()
        text.selectNodeContents(cell)
        const inset = text.getBoundingClientRect().left - cell.getBoundingClientRect().left
        return { label: getComputedStyle(cell, '::before').content, inset, width: cell.clientWidth }
      })
    }`)
    const labels = ['Status', 'Runs', 'Can go to', 'Groups', 'Memory', 'Requests/s', 'p99', 'Endpoint']
    expect(cells.map(({ label }) => label.split('"')[1])).toEqual(labels)
    for (const { inset, width, label } of cells) {
      expect(inset, `${label}: beside what it names`).toBeGreaterThan(80)
      expect(width, label).toBeGreaterThan(300)
    }
    await visit(page, `${fairlead.url}/access/roles`)
    const may = page.getByRole('row', { name: 'update_bdb_with_action' }).getByRole('cell')
    const said = await may.allInnerTexts()
    expect(new Set(said.map((text) => text.trim()))).toEqual(new Set(['may']))
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('while the server is not seen, what is shown has lost its colours and says how old it is', async () => {
    await visit(page, `${fairlead.url}/databases/orders`)
    const filter = () => page.evaluate<string>(`getComputedStyle(document.querySelector('#content')).filter`)
    expect(await filter()).toBe('none')
    await fairlead.server.end('SIGKILL')
    await page.locator('[data-live=stale]', { hasText: /Last known, \d+ s ago/ }).waitFor()
    expect(await filter()).toBe('grayscale(1)')
    expect(await page.getByRole('button', { name: 'Change', exact: true }).isDisabled()).toBe(true)
    await fairlead.server.start()
    await page.locator('[data-live=live]').waitFor()
    expect(await filter()).toBe('none')
  })

  test('no page broke its policy, threw, or asked another server', () => {
    expect(here.admin.faults).toEqual([])
  })
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { refuseTrial } from '../../../proof/browser/refuse-trial.ts'
import { visit } from '../../../proof/browser/visit.ts'
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

describe.skipIf(chromiumHere() === null)('the console on every window', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let page: Page
  let action: string

  beforeAll(async () => {
    here = await openConsole()
    ;({ fairlead, page } = here)
    const { uid } = await createDatabase(fairlead, {
      name: 'orders',
      memory_size: 64 << 20,
      engine_version: old,
      replication: false,
      shards_count: 2,
    })
    const body = {
      engine_version: next,
      rollback_window: 'until_finalized' as const,
    }
    const { action_uid = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    action = action_uid
    await untilAction(fairlead, action, 'its window is open', ({ phase }) => phase === 'window')
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  test('in a window the list has the build that serves, though the record has the old one', async () => {
    await visit(page, `${fairlead.url}/databases`)
    const row = page.getByRole('row', { name: /^orders/ })
    await row.getByRole('cell', { name: words(next), exact: true }).waitFor()
    expect(await fairlead.api.getDatabase({ params: { uid: 1 } })).toMatchObject({
      engine_version: next.replace('valkey-', ''),
      on_record: { engine_version: old.replace('valkey-', '') },
    })
    await visit(page, `${fairlead.url}/databases?version=${next}`)
    await row.waitFor()
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

  test('on a phone the answer of a dry run comes first, and what was chosen is one line above it', async () => {
    await fairlead.api.rollbackAction({ params: { uid: action } })
    await fairlead.untilEnded(action)
    await page.setViewportSize({ width: 390, height: 844 })
    const choice = page.getByRole('group', { name: 'Way back' })
    const dryRun = page.getByRole('button', { name: 'Dry run', exact: true })
    const startRow = page.getByRole('button', { name: 'Start the upgrade' })
    const isInSight = async (which: string) => {
      const box = await page.locator(which).first().boundingBox()
      return box !== null && box.y >= 0 && box.y + box.height < 844 - 56
    }
    await visit(page, `${fairlead.url}/databases/orders/upgrade?to=${next}`)
    await dryRun.click()
    await page.locator('.trial[data-tone=ok]').waitFor()
    expect(await isInSight('.trial')).toBe(true)
    await page.locator('.choices[data-folded=true] .choices-line').waitFor()
    expect(await choice.isVisible()).toBe(false)
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Change the choice' }).click()
    await choice.getByText('24 hours').click()
    await page.getByRole('button', { name: 'Dry run again' }).waitFor()
    expect(await startRow.count(), 'of a plan for something else').toBe(0)
    await refuseTrial(page)
    await dryRun.click()
    await page.locator('.trial[data-tone=bad]').waitFor()
    expect(await isInSight('.trial')).toBe(true)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.setViewportSize({ width: 1280, height: 900 })
    expect(await choice.isVisible()).toBe(true)
  })

  test('a field is described by what it costs or asks for, as it is now', async () => {
    await visit(page, `${fairlead.url}/databases/new`)
    expect(await page.getByLabel('Persistence').getAttribute('aria-describedby')).toBe('persistence-cost')
    await visit(page, `${fairlead.url}/access/new`)
    expect(await page.getByLabel('Password').getAttribute('aria-describedby')).toBe('password-rule')
    const rule = page.locator('#password-rule')
    await rule.getByText('8').waitFor()
    await visit(page, `${fairlead.url}/cluster`)
    const rules = page.locator('details', { has: page.locator('[name=password_min_length]') })
    await rules.locator('summary').click()
    await rules.locator('[name=password_min_length]').fill('12')
    await rules.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByRole('definition').getByText('12').waitFor()
    await visit(page, `${fairlead.url}/access/new`)
    await rule.getByText('12').waitFor()
    await fairlead.api.updateCluster({ body: { password_min_length: 8 } })
  })

  test('the words of the eviction policy are the same in the row and in the form', async () => {
    await visit(page, `${fairlead.url}/databases/orders`)
    const chosen = page.getByLabel('Eviction, when it is full').locator('option:checked')
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
    const labels = ['Status', 'Runs', 'Can go to', 'Shards', 'Memory', 'Requests/s', 'p99', 'Endpoint']
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

  test('while the server is not seen, cards keep their last values without colours, marked, and orders are off', async () => {
    await visit(page, `${fairlead.url}/databases/orders`)
    const shards = page.getByRole('region', { name: 'Shards' }).getByRole('row')
    const before = await shards.count()
    expect(before).toBeGreaterThan(1)
    const filter = () => page.evaluate<string>(`getComputedStyle(document.querySelector('#content')).filter`)
    expect(await filter()).toBe('none')
    await fairlead.server.end('SIGKILL')
    await page.locator('[data-live=stale]').waitFor()
    expect(await filter()).toBe('grayscale(1)')
    expect(await page.getByRole('button', { name: 'Upgrade…' }).isDisabled()).toBe(true)
    expect(await shards.count()).toBe(before)
    const mark = `getComputedStyle(document.querySelector('.card-head'), '::after').content`
    expect(await page.evaluate(mark)).not.toBe('none')
    await page.getByRole('link', { name: 'Nodes', exact: true }).click()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    expect(await findBarriers(page)).toEqual([])
    await page.goBack()
    expect(await page.getByRole('button', { name: 'Change', exact: true }).isDisabled()).toBe(true)
    await fairlead.server.start()
    await page.locator('[data-live=live]').waitFor()
    expect(await filter()).toBe('none')
  })

  test('no page broke its policy, threw, or asked another server', () => {
    expect(here.admin.faults).toEqual([])
  })
})

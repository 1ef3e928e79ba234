import { join } from 'node:path'
import { handoverLengths } from '@fairlead/api'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import type { Visitor } from '../../../proof/browser/open-browser.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { heading, press, visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { packTally } from '../../../proof/modules/add-module.ts'
import { asAdmin } from '../../../proof/roles.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'

/** Several upgrades and a browser on a busy machine. */
const patient = { timeout: 300_000 }
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

describe.skipIf(chromiumHere() === null)('upgrades in a browser', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let admin: Visitor
  let page: Page

  beforeAll(async () => {
    here = await openConsole()
    ;({ fairlead, admin, page } = here)
    for (const [name, groups] of [
      ['orders', 1],
      ['sessions', 3],
    ] as const)
      await createDatabase(fairlead, {
        name,
        memory_size: 64 << 20,
        engine_version: build('valkey', '8.0'),
        replication: false,
        shards_count: groups,
      })
    using primary = await asAdmin(fairlead, 1)
    await primary.call('SET', 'a-key', 'a value')
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  /** Begins an upgrade, and shows its page. */
  async function upgrade(uid: number, more: object = {}): Promise<string> {
    const body = {
      engine_version: build('valkey', '8.1'),
      rollback_window: 'until_finalized' as const,
      ...more,
    }
    const { action_uid: action = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    await visit(page, `${fairlead.url}/actions/${action}`)
    return action
  }
  const outcomeOf = async (action: string) =>
    (await fairlead.api.getAction({ params: { uid: action } })).outcome

  test('an upgrade is cancelled before its handover, after a question whose first button changes nothing', async () => {
    const action = await upgrade(1, { supervised: true })
    await page.locator('[data-phase=ready]').waitFor(patient)
    expect(await page.title()).toBe(`◷ orders · ${new URL(fairlead.url).host} · Fairlead`)
    await press(page, /^Cancel/, 'Enter')
    await page.getByRole('dialog').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Keep going')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[data-outcome=cancelled]').waitFor(patient)
    expect(await outcomeOf(action)).toBe('cancelled')
    expect(await findBarriers(page)).toEqual([])
  })

  test('an upgrade is finalized after a question, and its events are listed, the newest first', async () => {
    const action = await upgrade(1)
    await page.locator('[data-phase=window]').waitFor(patient)
    await press(page, /^Finalize/, 'Enter')
    await page.getByRole('dialog').getByText('no way back').first().waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Keep the way back')
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[data-outcome=completed]').waitFor(patient)
    expect(await outcomeOf(action)).toBe('completed')

    await page.keyboard.press('e')
    const events = page.getByRole('log').getByRole('listitem')
    await events.first().waitFor()
    expect(await events.first().innerText()).toContain('completed')
    expect(await events.last().innerText()).toContain('asked for by admin')
    expect((await events.allInnerTexts()).join('\n')).toMatch(/write stop [\d.]+ ms/)
    expect(await findBarriers(page)).toEqual([])
  })

  test('the certificate of a group with keys says that both held them, has the wait of clients as large as the write stop, and says beside each length what it is', async () => {
    await page.locator('.certificate .offsets[data-tone=ok]').waitFor()
    expect(await page.locator('.certificate .big').count()).toBe(2)
    await page.locator('.certificate').getByText('write stop', { exact: true }).waitFor()
    await page
      .locator('.certificate')
      .getByText(/^longest wait/)
      .waitFor()
    const terms = page.locator('.meanings')
    for (const { label, meaning } of Object.values(handoverLengths))
      await terms.locator('div', { hasText: label }).getByText(meaning).waitFor()
    const parts = await page.locator('.phase-words b').allInnerTexts()
    const sum = parts.reduce((all, text) => all + (text.startsWith('<') ? 0 : Number.parseFloat(text)), 0)
    const whole = page.locator('.pairs dt', { hasText: handoverLengths.whole.label }).locator('+ dd')
    expect(Number.parseFloat(await whole.innerText())).toBeCloseTo(sum, 1)
  })

  test('while the chart of a moment loads, its card says so, and nothing below it is moved when it comes', async () => {
    const asked = Promise.withResolvers<void>()
    await page.route('**/handovers/*/trace', async (route) => {
      await asked.promise
      await route.continue()
    })
    await page.reload()
    const body = page.locator('.moment-body')
    await body.getByText('Loading the chart…').waitFor()
    const heightOf = async () => (await body.boundingBox())?.height
    const before = await heightOf()
    asked.resolve()
    await body.getByRole('img', { name: /^Replies of the endpoint/ }).waitFor()
    await body.getByText('200 ms').first().waitFor()
    await body.getByText('before').first().waitFor()
    expect(await heightOf()).toBe(before)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('a database of three groups shows each group, and a certificate and a write stop of each, also with forced colours', async () => {
    await upgrade(2)
    await page.locator('[data-phase=window]').waitFor(patient)
    for (const group of [0, 1, 2])
      await page.getByRole('heading', { name: `Group ${group}`, exact: true }).waitFor()
    await page.getByRole('heading', { name: '3 certificates' }).waitFor()
    await page.locator('.certificate').nth(2).waitFor()
    expect(await page.locator('.strip circle').count()).toBe(3)
    const scales = await page.locator('.phase-scale').allInnerTexts()
    expect(scales).toHaveLength(3)
    expect(new Set(scales).size, 'one scale for all').toBe(1)
    await page.getByText('by the clock of the proxy').waitFor()
    await page.emulateMedia({ forcedColors: 'active' })
    expect(await findBarriers(page)).toEqual([])
    await page.emulateMedia({ forcedColors: 'none' })
  })

  test('keys go to pages, databases and rows, and none of them where text is entered, or when they are off', async () => {
    await visit(page, fairlead.url)
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await heading(page, 'Databases')
    await page.getByRole('link', { name: 'orders' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('sessions')
    await page.keyboard.press('/')
    await page.keyboard.type('gn?')
    expect(await page.getByLabel('Filter by name or number').inputValue()).toBe('gn?')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('combobox', { name: 'Page, database, action or order' })
    await palette.fill('sess')
    for (const name of [/^sessions: valkey/, /^sessions database/])
      await page.getByRole('option', { name }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await heading(page, 'sessions')
    await page.keyboard.press('?')
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('Keys without Ctrl or ⌘').uncheck()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await page.keyboard.press('Control+k')
    await palette.waitFor()
    await page.keyboard.press('Escape')
    await heading(page, 'sessions')
  })

  test('users are created, changed and deleted, and what the server refuses is said beside the form', async () => {
    await visit(page, `${fairlead.url}/access`)
    await page.getByRole('link', { name: 'New user' }).click()
    await page.getByLabel('Name').fill('admin')
    await page.getByLabel('Role').selectOption('Cluster Viewer')
    await page.getByLabel('Password').fill('only-looks-at-it')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').getByText('name_already_exists').waitFor()
    await page.getByLabel('Name').fill('eve')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'eve' }).click()
    await heading(page, 'eve')
    await page.getByLabel('Disabled').check()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByRole('status').getByText('Changed').waitFor()
    const eve = (await fairlead.api.listUsers({})).find(({ name }) => name === 'eve')
    expect(eve).toMatchObject({ role: 'cluster_viewer', status: 'disabled' })
    await page.getByRole('button', { name: 'Delete this user…' }).click()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await heading(page, 'Access')
    expect((await fairlead.api.listUsers({})).map(({ name }) => name)).toEqual(['admin'])
  })

  test('a module is uploaded and deleted, and a package that is none is refused with its reason', async () => {
    await visit(page, `${fairlead.url}/modules`)
    const field = page.getByLabel(/^Add a module/)
    await field.setInputFiles({
      name: 'wrong.zip',
      mimeType: 'application/zip',
      buffer: Buffer.from('no zip'),
    })
    await page.getByRole('alert').getByText('invalid_module').waitFor()
    const path = join(fairlead.home, 'tally.zip')
    await packTally('2.0.0', path)
    await field.setInputFiles(path)
    await page.getByRole('status').getByText('is in the catalogue').waitFor()
    await page.getByRole('button', { name: /^Delete tally/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: /^Delete tally/ }).waitFor({ state: 'detached' })
    expect(await fairlead.api.listModules({})).toEqual([])
  })

  test('no page broke its policy, threw, or asked another server', () => {
    expect(admin.faults).toEqual([])
  })
})

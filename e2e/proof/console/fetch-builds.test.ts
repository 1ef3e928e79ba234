import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { heading, signIn, visit } from '../../../proof/browser/visit.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { enginesFolder } from '../../../proof/engines-folder.ts'
import { findCut, widthOf } from '../../support/page-faults.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

describe.skipIf(chromiumHere() === null)('builds are fetched in a browser', () => {
  const name = build('valkey', '8.1')
  let folder: string
  let here: OpenConsole
  let page: Page

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-builds-'))
    // Nothing listens there: no archive is reached.
    const proxy = 'http://127.0.0.1:9'
    const env = { FAIRLEAD_ENGINES: folder, http_proxy: proxy, https_proxy: proxy }
    here = await openConsole({ env })
    ;({ page } = here)
  })
  afterAll(async () => {
    await here?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const fetches = () => page.getByRole('region', { name: 'Fetches' })

  test('a build that is in the folder by now is done at once, and the list of builds is read again', async () => {
    await visit(page, `${here.fairlead.url}/builds`)
    const inList = page.getByRole('row', { name: name.replace('-', ' ') })
    await page.getByRole('button', { name: 'Fetch' }).waitFor()
    expect(await inList.count()).toBe(0)
    await symlink(join(enginesFolder(), name), join(folder, name))
    await page.getByRole('combobox', { name: 'Engine' }).selectOption('valkey')
    await page.getByLabel('Version').fill('8.1')
    await page.getByRole('button', { name: 'Fetch' }).click()
    await fetches().locator('[data-sign=done]').waitFor()
    await page.getByRole('region', { name: 'Engine builds' }).locator(inList).waitFor()
    expect(await here.fairlead.api.listEngineFetches({})).toMatchObject([
      { engine: 'valkey', engine_version: '8.1', also_unstable: false, state: 'done' },
    ])
  })

  test('a fetch that fails has its reason beside it, which has room on a phone, and the audit has the user', async () => {
    const { api } = here.fairlead
    await page.getByRole('combobox', { name: 'Engine' }).selectOption('redict')
    await page.getByLabel('Version').fill('')
    await page.getByLabel(/in development/).check()
    await page.getByRole('button', { name: 'Fetch' }).click()
    const row = fetches().getByRole('row', { name: 'redict' })
    await row.locator('[data-sign=failed]').waitFor()
    const [failed] = await api.listEngineFetches({})
    expect(failed).toMatchObject({ engine: 'redict', engine_version: null, state: 'failed' })
    await row.getByText(failed?.fault?.message ?? 'a reason').waitFor()
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await widthOf(page)).toBeLessThanOrEqual(width)
      expect(await findCut(page)).toEqual([])
      expect(await findBarriers(page)).toEqual([])
    }
    const [record] = await api.listLogs({ query: { type: 'engine_fetch_requested', order: 'desc' } })
    expect(record).toMatchObject({ originator: 'admin', details: { engine: 'redict', also_unstable: true } })
  })

  test('a user who may only look is told the command, and has no form', async () => {
    const { fairlead, browser } = here
    await fairlead.api.createUser({
      body: { name: 'eve', password: 'only-looks-at-it', role: 'cluster_viewer' },
    })
    const tab = await (await browser.visitor()).tab(fairlead.url)
    await signIn(tab, 'eve', 'only-looks-at-it')
    await heading(tab, 'Overview')
    await visit(tab, `${fairlead.url}/builds`)
    await tab.locator('code', { hasText: 'fairlead engines fetch' }).waitFor()
    expect(await tab.getByRole('button', { name: 'Fetch' }).count()).toBe(0)
    expect(here.admin.faults).toEqual([])
  })
})

import { Redis } from 'iovalkey'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import type { Visitor } from '../../../proof/browser/open-browser.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { heading, visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { freePortsFrom } from '../../../proof/free-port.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

/** An upgrade and a browser on a busy machine. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

/** In place of the browser's own: what a page would have told, and a tab behind others. */
const watchNotices = `{
  globalThis.notices = []
  globalThis.Notification = class {
    static permission = 'default'
    static requestPermission = async () => 'granted'
    constructor(_, { body }) { notices.push(body) }
  }
  Object.defineProperty(document, 'hidden', { get: () => globalThis.isBehind === true })
}`

describe.skipIf(chromiumHere() === null)('databases and roles in a browser', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let admin: Visitor
  let page: Page

  beforeAll(async () => {
    here = await openConsole()
    ;({ fairlead, admin, page } = here)
    await createDatabase(fairlead, {
      name: 'orders',
      memory_size: 64 << 20,
      engine_version: build('valkey', '8.0'),
      replication: false,
      shards_count: 1,
    })
  })
  afterAll(() => here?.[Symbol.asyncDispose]())
  const dialog = () => page.getByRole('dialog')
  const settings = () => page.locator('section', { has: page.getByRole('heading', { name: 'Settings' }) })

  test('the clients of an endpoint are listed only when they are asked for', async () => {
    const { endpoints, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
      params: { uid: 1 },
    })
    const client = new Redis({ port: endpoints[0]?.port ?? 0, password, connectionName: 'checkout' })
    onTestFinished(() => client.disconnect())
    await client.ping()
    await visit(page, `${fairlead.url}/databases/orders`)
    const card = page.locator('section', { has: page.getByRole('heading', { name: 'Clients' }) })
    expect(await card.getByText('checkout').count()).toBe(0)
    await card.getByRole('button', { name: 'Show' }).click()
    await card.getByText('checkout').waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  test('settings are changed while the database serves, and what the server refuses is said beside them', async () => {
    await visit(page, `${fairlead.url}/databases/orders`)
    await settings().getByText('64 MiB').waitFor()
    await page.getByLabel('Memory in MiB').fill('96')
    await page.getByLabel('Eviction, when it is full').selectOption('allkeys-lru')
    await settings().getByRole('button', { name: 'Change' }).click()
    await settings().getByText('96 MiB').waitFor()
    await settings().getByRole('definition').getByText('not used for the longest').waitFor()
    expect(await fairlead.api.getDatabase({ params: { uid: 1 } })).toMatchObject({
      memory_size: 96 << 20,
      eviction_policy: 'allkeys-lru',
    })
    await page.getByLabel('Replicas').selectOption('One for each shard')
    await settings().getByRole('button', { name: 'Change' }).click()
    await settings().getByRole('definition').getByText('one for each shard').waitFor()
    await until('it serves with a replica', async () => {
      const { status, replication } = await fairlead.api.getDatabase({ params: { uid: 1 } })
      return status === 'active' && replication
    })
    await page.getByLabel('Memory in MiB').fill('1000000000')
    await settings().getByRole('button', { name: 'Change' }).click()
    await settings().getByRole('alert').getByText('insufficient_resources').waitFor()
    expect(await page.getByLabel('Memory in MiB').inputValue()).toBe('1000000000')
  })

  test('a person who is behind another tab is told that an upgrade is ready, if asked for', async () => {
    const { action_uid: action = '' } = await fairlead.api.upgradeDatabase({
      params: { uid: 1 },
      body: { engine_version: build('valkey', '8.1'), rollback_window: 'until_finalized', supervised: true },
    })
    const tab = await admin.tab(fairlead.url)
    await tab.addInitScript(watchNotices)
    await visit(tab, `${fairlead.url}/actions/${action}`)
    await tab.locator('[data-phase=ready]').waitFor()
    await tab.getByRole('button', { name: 'Notify me' }).click()
    await tab.getByRole('button', { name: 'You will be notified' }).waitFor()
    await tab.evaluate('globalThis.isBehind = true')
    await fairlead.api.resumeAction({ params: { uid: action } })
    const said = () => tab.evaluate<string[]>('notices')
    await until('a notice', async () =>
      (await said()).some((text) => /^orders: Served by valkey 8\.1/.test(text)),
    )
    await tab.close()
  })

  test('a database with a running upgrade is not deleted, and the question says what is in the way', async () => {
    await visit(page, `${fairlead.url}/databases/orders`)
    await page.getByRole('button', { name: 'Delete this database…' }).click()
    await dialog().getByRole('alert').getByText('db_busy').waitFor()
    await dialog().getByText('are the way back').waitFor()
    expect(await dialog().getByLabel('Type orders to delete it').count()).toBe(0)
    await dialog().getByRole('link', { name: 'Watch the change that runs' }).waitFor()
    expect(await dialog().getByRole('button', { name: 'Delete orders' }).isDisabled()).toBe(true)
    await dialog().getByRole('button', { name: 'Keep' }).click()
    const { action_uid: action = '' } = await fairlead.api.getDatabase({ params: { uid: 1 } })
    await fairlead.api.finalizeAction({ params: { uid: action } })
    await until('the end of the upgrade', async () => {
      const { phase } = await fairlead.api.getAction({ params: { uid: action } })
      return phase === 'ended'
    })
  })

  test('a database is deleted after its name was typed, and the page of its deletion follows', async () => {
    await visit(page, `${fairlead.url}/databases/orders`)
    await page.getByRole('button', { name: 'Delete this database…' }).click()
    await dialog().getByText('Keys').waitFor()
    expect(await findBarriers(page)).toEqual([])
    const button = dialog().getByRole('button', { name: 'Delete orders' })
    await dialog().getByLabel('Type orders to delete it').fill('order')
    expect(await button.isDisabled()).toBe(true)
    await dialog().getByLabel('Type orders to delete it').fill('orders')
    await button.click()
    await page.locator('.headline-main', { hasText: 'Completed after' }).waitFor()
    expect(await fairlead.api.listDatabases({})).toEqual([])
  })

  test('a database is created with what the command line has: TLS, a port, eviction, persistence, a password, no replica', async () => {
    const port = await freePortsFrom(14_000, 14_999)()
    await visit(page, `${fairlead.url}/databases/new`)
    await page.getByLabel('Name').fill('secrets')
    await page.getByLabel('Memory in MiB').fill('64')
    await page.getByLabel('Replicas').selectOption('None')
    await page.getByLabel('Persistence').selectOption('snapshot')
    await page.getByLabel(/^Eviction/).selectOption('allkeys-lfu')
    await page.getByLabel('Port').fill(String(port))
    await page.getByLabel('Password').fill('a-password-of-mine')
    await page.getByLabel(/TLS: clients/).check()
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Create' }).click()
    await heading(page, 'secrets')
    await page.getByRole('link', { name: 'Upgrade…' }).waitFor()
    const [{ uid = 0 } = {}] = await fairlead.api.listDatabases({ query: { q: 'secrets' } })
    expect(await fairlead.api.getDatabase({ params: { uid } })).toMatchObject({
      replication: false,
      data_persistence: 'snapshot',
      eviction_policy: 'allkeys-lfu',
      authentication_engine_pass: 'a-password-of-mine',
      tls_mode: 'enabled',
      endpoints: [{ port }],
    })
  })

  test('the roles and what each management may do are a table', async () => {
    await visit(page, `${fairlead.url}/access`)
    await page.getByRole('link', { name: 'Roles' }).click()
    await heading(page, 'Roles')
    const line = page.getByRole('row', { name: 'update_bdb_with_action' })
    await line.waitFor()
    const may = await line.getByRole('cell').allInnerTexts()
    const { admin: own, cluster_viewer: viewer } = await fairlead.api.listPermissions({})
    expect(may.filter((text) => text.includes('may')).length).toBeGreaterThan(0)
    expect(own?.api_permissions).toContain('update_bdb_with_action')
    expect(viewer?.api_permissions).not.toContain('update_bdb_with_action')
    const names = await page.getByRole('columnheader').allInnerTexts()
    const matrix = names.slice(names.indexOf('Permission') + 1)
    expect(may[matrix.indexOf('admin')]).toContain('may')
    expect(may[matrix.indexOf('cluster_viewer')]).toBe('')
  })

  test('the audit is filtered by words as its table shows them, and what is no number of a database is refused', async () => {
    await visit(page, `${fairlead.url}/audit?type=bdb%20deleted`)
    await page.getByRole('cell', { name: 'bdb deleted', exact: true }).waitFor()
    expect(await page.getByRole('cell', { name: 'bdb created', exact: true }).count()).toBe(0)
    await visit(page, `${fairlead.url}/audit?database=orders`)
    await page.getByRole('alert').getByText('invalid_request').waitFor()
  })

  test('no page broke its policy, threw, or asked another server', () => {
    expect(admin.faults).toEqual([])
  })
})

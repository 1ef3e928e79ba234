/**
 * `node --conditions=@fairlead/source proof/browser/take-pictures.ts FOLDER`: pictures of the console in all its states, in both themes and three widths, of a
 * Fairlead with real engines under load. For people to look at: docs/operate/console.md has some of them. Build the console before (`npm start` does).
 */
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient as createRedis } from 'redis'
import { createDatabase, type Served } from '../create-database.ts'
import { build } from '../engine-pairs.ts'
import { enginesFolder } from '../engines-folder.ts'
import { libraryOfOldDays } from '../library-of-old-days.ts'
import { mendBuild, ownEngines } from '../own-engines.ts'
import { asAdmin } from '../roles.ts'
import { adminPassword, startFairlead } from '../start-fairlead.ts'
import { untilAction } from '../way-back.ts'
import { openBrowser } from './open-browser.ts'
import { refuseTrial } from './refuse-trial.ts'
import { stickUpgrade } from './stick-upgrade.ts'
import { signIn, visit } from './visit.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name the folder in which the pictures are to be')
const widths = [390, 1280, 1920] as const
await mkdir(folder, { recursive: true })
const [from, to] = [build('redis', '7.0'), build('valkey', '8.1')]
using engines = ownEngines(
  (await readdir(enginesFolder())).filter((name) => name !== to),
  to,
)
await using fairlead = await startFairlead({
  onLog: () => undefined,
  env: { FAIRLEAD_ENGINES: engines.folder },
})
await using browser = await openBrowser()
const admin = await browser.visitor()
const page = await admin.tab(fairlead.url)

await shoot('login')
await signIn(page, 'admin', adminPassword)
await page.locator('[data-live=live]').waitFor()
await see('/', 'overview-empty')
await see('/databases/new', 'new-database')

const make = (name: string, more: object = {}) =>
  createDatabase(fairlead, { name, memory_size: 64 << 20, engine_version: from, ...more })
const orders = await make('orders', { data_persistence: 'aof' })
const sessions = await make('sessions', { sharding: true, shards_count: 3 })
const billing = await make('billing')
const ledger = await make('ledger', { sharding: true, shards_count: 9 })
const carts = await make('carts')
await make('a-name-as-long-as-the-name-of-a-database-may-be-63-letters')
await fairlead.api.createUser({ body: { name: 'eve', password: 'only-looks-at-it', role: 'cluster_viewer' } })
const writers = await Promise.all([orders, sessions].map(writeInto))

await visit(page, `${fairlead.url}/databases/orders/upgrade`)
await page.getByLabel(to.replace('-', ' ')).check()
await shoot('upgrade')
await page.getByRole('button', { name: 'Dry run' }).click()
await page.getByText('The target starts').waitFor()
await shoot('plan')
await refuseTrial(page)
await page.getByRole('button', { name: 'Dry run' }).click()
await page.getByText('The target does not start').waitFor()
await shoot('refused-trial')
await page.unrouteAll({ behavior: 'ignoreErrors' })

const upgrade = async (uid: number, more: object = {}) =>
  (
    await fairlead.api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to, rollback_window: 'until_finalized', ...more },
    })
  ).action_uid ?? ''
const inPhase = (action: string, wanted: string) =>
  untilAction(fairlead, action, `it is ${wanted}`, ({ phase }) => phase === wanted)
const first = await upgrade(orders.uid)
await inPhase(first, 'window')
await see(`/actions/${first}`, 'window', 'Replies of the endpoint')
await page.getByRole('button', { name: /^Finalize/ }).click()
await shoot('finalize')
await page.keyboard.press('Escape')
await page.locator('summary[data-key=e]').click()
await shoot('events')
const second = await upgrade(sessions.uid, { supervised: true })
await inPhase(second, 'ready')
await see(`/actions/${second}`, 'ready')
await fairlead.api.resumeAction({ params: { uid: second } })
await inPhase(second, 'window')
await see(`/actions/${second}`, 'window-groups')
const third = await stickUpgrade(fairlead, billing.uid, { engines, to })
await see(`/actions/${third}`, 'stuck')
mendBuild(engines.folder, to)
await fairlead.api.retryAction({ params: { uid: third } })
await fairlead.untilEnded(third)
await fairlead.api.rollbackAction({ params: { uid: first } })
await fairlead.untilEnded(first)
await see(`/actions/${first}`, 'rolled-back')
const wide = await upgrade(ledger.uid)
await see(`/actions/${wide}`, 'many-groups-moving')
await inPhase(wide, 'window')
await see(`/actions/${wide}`, 'many-groups')
{
  using primary = await asAdmin(fairlead, carts.shard_list[0] ?? 0)
  await primary.call('FUNCTION', 'LOAD', libraryOfOldDays)
}
const failing = await upgrade(carts.uid)
await fairlead.untilEnded(failing)
await see(`/actions/${failing}`, 'failed')

for (const path of [
  '/',
  '/databases',
  '/databases/orders',
  '/databases/sessions',
  '/actions',
  '/nodes',
  '/builds',
  '/modules',
  '/access',
  '/access/new',
  '/access/2',
  '/audit',
  '/cluster',
  '/nothing',
  '/databases/nothing',
])
  await see(path, path === '/' ? 'overview' : path.slice(1).replaceAll('/', '-'))
await visit(page, `${fairlead.url}/databases`)
await page.keyboard.press('Control+k')
await page.getByRole('combobox', { name: 'Page, database, action or order' }).fill('or')
await page
  .getByRole('option', { name: /^orders/ })
  .first()
  .waitFor()
await shoot('palette')
await page.keyboard.press('Escape')
await page.keyboard.press('?')
await shoot('keys')
await page.keyboard.press('Escape')
await page.setViewportSize({ width: 390, height: 900 })
await page.getByRole('button', { name: 'More' }).click()
await shoot('menu')
await page.keyboard.press('Escape')
await page.emulateMedia({ forcedColors: 'active' })
for (const [path, name] of [
  ['/', 'overview'],
  ['/databases', 'databases'],
  [`/actions/${wide}`, 'many-groups'],
  [`/actions/${second}`, 'window-groups'],
  [`/actions/${failing}`, 'failed'],
] as const)
  await see(path, `forced-${name}`)
await page.emulateMedia({ forcedColors: null })
await visit(page, `${fairlead.url}/databases/orders`)
await page.context().clearCookies()
await page.getByText('Your session has ended').waitFor()
await shoot('session-ended')
await signIn(page, 'admin', adminPassword)
await page.locator('[data-live=live]').waitFor()
await fairlead.server.end('SIGKILL')
await page.locator('[data-live=stale]').waitFor()
await shoot('stale')
for (const stop of writers) await stop()

async function see(path: string, name: string, image?: string): Promise<void> {
  await visit(page, fairlead.url + path)
  if (image !== undefined)
    await page
      .getByRole('img', { name: new RegExp(`^${image}`) })
      .first()
      .waitFor()
  await shoot(name)
}

/** The whole page, in both themes and all widths. */
async function shoot(name: string): Promise<void> {
  for (const theme of ['light', 'dark'] as const)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: theme })
      await page.screenshot({ path: join(folder ?? '', `${name}-${width}-${theme}.png`), fullPage: true })
    }
  await page.setViewportSize({ width: 1280, height: 900 })
  process.stdout.write(`${name}\n`)
}

/** Clients that write, so that charts show something. Returns what ends them. */
async function writeInto({ port, password, sharding }: Served): Promise<() => Promise<void>> {
  const client = createRedis({ socket: { port, host: '127.0.0.1' }, password })
  client.on('error', () => undefined)
  await client.connect()
  let isOn = true
  const work = (async () => {
    for (let n = 0; isOn; n += 1)
      await client.set(sharding ? `{one}${n % 1_000}` : `key-${n % 1_000}`, `${n}`).catch(() => undefined)
  })()
  return async () => {
    isOn = false
    await work
    client.destroy()
  }
}

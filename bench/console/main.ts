/**
 * What the console costs a browser: pages of a fixture server with many databases and actions, and the page of an upgrade of many groups at many events a second.
 * `npm run bench -- console [--databases 2000] [--actions 10000] [--groups 64] [--per-second 50] [--seconds 20] [--soak HOURS] [--json]`.
 * With `--soak`: what a page holds after events of that many hours.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openBrowser } from '../../proof/browser/open-browser.ts'
import { heapOf, type Seen, watchPage } from '../../proof/browser/watch-page.ts'
import { serveFixture } from './serve-fixture.ts'
import { sayGrowth, soakConsole } from './soak.ts'

const { values: flags } = parseArgs({
  options: {
    databases: { type: 'string', default: '2000' },
    actions: { type: 'string', default: '10000' },
    groups: { type: 'string', default: '64' },
    'per-second': { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
    soak: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const size = {
  ...{ databases: Number(flags.databases), actions: Number(flags.actions), groups: Number(flags.groups) },
}
if (flags.soak !== undefined) {
  const soak = await soakConsole(Number(flags.soak), size)
  const said = `${soak.events} events (${soak.hours} h): ${soak.heapMb.join(', ')} MB: ${sayGrowth(soak)}`
  process.stdout.write(`${flags.json ? JSON.stringify(soak) : said}\n`)
  process.exit(0)
}

await using server = await serveFixture(size)
await using browser = await openBrowser()
const visitor = await browser.visitor()
const page = await visitor.tab('about:blank')
const watch = await watchPage(page)

const rows = []
for (const [path, ready] of [
  ['/', 'Versions'],
  ['/databases', 'database-0200'],
  ['/actions', 'database-0099'],
] as const) {
  await page.goto(server.url + path)
  await page.getByText(ready).first().waitFor()
  await page.locator('[data-live=live]').waitFor()
  await pause(1_000)
  rows.push({ page: path, ...summarize(await watch.seen()), heapMb: await heapOf(page) })
}

await page.goto(`${server.url}/actions/moving`)
await page
  .locator('.lane-row')
  .nth(size.groups - 1)
  .waitFor()
await page.locator('[data-live=live]').waitFor()
await pause(1_000)
const before = await heapOf(page)
const { interactive } = await watch.seen()
await watch.forget()
server.move(Number(flags['per-second']))
await pause(Number(flags.seconds) * 1_000)
server.move(0)
rows.push({
  page: `/actions, ${size.groups} groups, ${flags['per-second']} events/s`,
  // Of the load alone: later tasks are those of the events.
  ...summarize({ ...(await watch.seen()), interactive }),
  heapMb: await heapOf(page),
  heapBeforeMb: before,
})
process.stdout.write(flags.json ? `${JSON.stringify(rows)}\n` : '')
if (!flags.json) {
  console.table(rows.map(({ moved: _, ...row }) => row))
  console.log('The goals, on a quiet machine of two cores: lcpMs 1000, interactiveMs 1500, cls 0')
  for (const { page: at, moved } of rows)
    for (const [what, times] of Object.entries(moved)) console.log(`moved on ${at}: ${what} (${times} times)`)
}

function summarize({ lcp, interactive, cls, tasks, moved }: Seen) {
  return {
    ...{ lcpMs: Math.round(lcp), interactiveMs: Math.round(interactive), cls: Number(cls.toFixed(4)) },
    ...{ longTasks: tasks.length, longestMs: Math.round(Math.max(0, ...tasks)) },
    moved,
  }
}

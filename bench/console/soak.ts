import type { Page } from 'playwright-core'
import { openBrowser } from '../../proof/browser/open-browser.ts'
import { heapOf } from '../../proof/browser/watch-page.ts'
import { until } from '../../proof/until.ts'
import { type FixtureServer, serveFixture } from './serve-fixture.ts'

/** What the page holds after each tenth of the time. */
export interface Soak {
  readonly hours: number
  readonly events: number
  readonly heapMb: readonly number[]
  /** From the mean of the second to fourth point to that of the last three: the first one still fills what is kept. */
  readonly grownMb: number
}

const POINTS = 10
/** Between two changes of pages. */
const BATCHES = 10
/** Less than this says nothing: the engine's own tables come and go. */
const NOTHING_MB = 1

const pages = [
  ['Databases', 'Databases'],
  ['Actions', 'Actions'],
  ['Fairlead, overview', 'Overview'],
] as const

/** Events of so many hours, one a second, as fast as one page takes them, while it goes from page to page and back to the upgrade that they are about. */
export async function soakConsole(hours: number, size: Parameters<typeof serveFixture>[0]): Promise<Soak> {
  await using server = await serveFixture(size)
  await using browser = await openBrowser()
  const page = await (await browser.visitor()).tab(server.url)
  // The tab that has the stream tells others of it: that is when it has taken an event.
  await page.addInitScript(`{
    globalThis.taken = 0
    new BroadcastChannel('fairlead-events-1').onmessage = ({ data }) => { taken = data.event?.seq ?? taken }
  }`)
  await page.goto(`${server.url}/actions`)
  await page.locator('[data-live=live]').waitFor()
  const events = Math.round((hours * 3_600) / POINTS / BATCHES)
  const heapMb: number[] = []
  for (let point = 0; point < POINTS; point += 1) {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      await goOn(page, batch)
      await send(server, page, events)
    }
    await goOn(page, 0)
    heapMb.push(await heapOf(page))
  }
  const grownMb = Math.round((mean(heapMb.slice(-3)) - mean(heapMb.slice(1, 4))) * 10) / 10
  return { hours, events: events * POINTS * BATCHES, heapMb, grownMb }
}

/** "flat", or by how much it grew. */
export function sayGrowth({ grownMb }: Soak): string {
  return grownMb < NOTHING_MB ? 'flat' : `grew by ${grownMb} MB`
}

/** To a list, or to the page of the upgrade, without loading anything anew. */
async function goOn(page: Page, batch: number): Promise<void> {
  const [link, title] = pages[batch % pages.length] ?? pages[0]
  await page.getByRole('link', { name: link, exact: true }).first().click()
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
  if (title !== 'Actions') return
  await page.locator('a[href="/actions/moving"]').first().click()
  await page.locator('.lane-row').first().waitFor()
}

async function send(server: FixtureServer, page: Page, events: number): Promise<void> {
  const last = await server.tell(events)
  await until('the page has taken them', async () => (await page.evaluate<number>('taken')) >= last, {
    withinMs: 600_000,
  })
}

const mean = (all: readonly number[]) => all.reduce((sum, each) => sum + each, 0) / all.length

import type { Page } from 'playwright-core'

/** What a page has done since it began, or since the last `forget`. */
export interface Seen {
  /** The largest contentful paint, in milliseconds. */
  readonly lcp: number
  /**
   * When the largest contentful paint and every long task of the load are over, in milliseconds: from then on
   * a click is answered at once.
   */
  readonly interactive: number
  /** The layout shift. One right after a key or a click does not count, as browsers have it. */
  readonly cls: number
  /** Tasks over 50 ms, in milliseconds. */
  readonly tasks: readonly number[]
  /** What stood elsewhere before, and how far in pixels, "td.number 0,16": how often. */
  readonly moved: Readonly<Record<string, number>>
}

/** Notes what a page does. */
export interface PageWatch {
  seen(): Promise<Seen>
  forget(): Promise<void>
}

const script = `{
  const seen = globalThis.seen = { lcp: 0, interactive: 0, cls: 0, tasks: [], moved: {} }
  const nameOf = (node) =>
    node instanceof Element ? [node.localName, ...node.classList].join('.') : nameOf(node?.parentElement ?? document.body)
  const on = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true })
  const until = (at) => { seen.interactive = Math.max(seen.interactive, at) }
  on('largest-contentful-paint', (entry) => { seen.lcp = entry.startTime; until(entry.startTime) })
  on('layout-shift', (entry) => {
    if (entry.hadRecentInput) return
    seen.cls += entry.value
    for (const { node, previousRect: was, currentRect: is } of entry.sources) {
      const what = nameOf(node) + ' ' + Math.round(is.x - was.x) + ',' + Math.round(is.y - was.y)
      seen.moved[what] = (seen.moved[what] ?? 0) + 1
    }
  })
  on('longtask', (entry) => { seen.tasks.push(entry.duration); until(entry.startTime + entry.duration) })
}`

/** From the next address on. */
export async function watchPage(page: Page): Promise<PageWatch> {
  await page.addInitScript(script)
  return {
    seen: () => page.evaluate<Seen>('seen'),
    forget: () => page.evaluate('void Object.assign(seen, { cls: 0, tasks: [], moved: {} })'),
  }
}

/** What the scripts of a page hold after a collection, in MB. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return Math.round(usedSize / 1e5) / 10
}

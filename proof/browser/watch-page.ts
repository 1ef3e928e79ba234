import type { Page } from 'playwright-core'

/** What a page has done since it began, or since the last `forget`. */
export interface PageWatch {
  /** What stood elsewhere before, and how far in pixels, "td.number 0,16". A shift right after a key or a click does not count, as browsers have it. */
  shifts(): Promise<readonly string[]>
  forget(): Promise<void>
}

const script = `{
  const shifts = globalThis.shifts = []
  const nameOf = (node) =>
    node instanceof Element ? [node.localName, ...node.classList].join('.') : nameOf(node?.parentElement ?? document.body)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (!entry.hadRecentInput)
        for (const { node, previousRect: was, currentRect: is } of entry.sources)
          shifts.push(nameOf(node) + ' ' + Math.round(is.x - was.x) + ',' + Math.round(is.y - was.y))
  }).observe({ type: 'layout-shift', buffered: true })
}`

/** From the next address on. */
export async function watchPage(page: Page): Promise<PageWatch> {
  await page.addInitScript(script)
  return {
    shifts: async () => [...new Set(await page.evaluate<string[]>('shifts'))],
    forget: () => page.evaluate('void (shifts.length = 0)'),
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

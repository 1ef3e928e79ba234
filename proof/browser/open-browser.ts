import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { chromiumHere } from './chromium.ts'

/** A browser of a test. */
export interface TestBrowser extends AsyncDisposable {
  /** A visitor with cookies of its own. */
  visitor(options?: BrowserContextOptions): Promise<Visitor>
}

/** A person before a browser, with any number of tabs. */
export interface Visitor {
  tab(url: string): Promise<Page>
  /** What no page may do: break the policy, throw, ask another server. One line each. */
  readonly faults: readonly string[]
  /** How many streams of events its tabs have asked for, and have not given up. */
  streams(): number
}

/** A wait of a browser is never shorter: the machine may be busy. */
const WAIT_MS = 120_000

/** Starts Chromium without a window. Throws where there is none: ask `chromiumHere` before. */
export async function openBrowser(): Promise<TestBrowser> {
  const here = chromiumHere()
  if (here === null) throw new Error('there is no Chromium: npm test fetches it')
  await using opened = new AsyncDisposableStack()
  const cache = await mkdtemp(join(tmpdir(), 'fairlead-browser-'))
  opened.defer(() => rm(cache, { recursive: true, force: true }))
  const { PATH = '' } = process.env
  const browser = await chromium.launch({
    executablePath: here.program,
    env: { PATH, HOME: cache, XDG_CACHE_HOME: cache, XDG_CONFIG_HOME: cache, ...here.environment },
    // It visits only our own pages; as root, and in containers, it cannot have a sandbox.
    args: ['--no-sandbox', '--disable-gpu'],
    timeout: WAIT_MS,
  })
  opened.defer(() => browser.close())
  const owned = opened.move()
  return {
    visitor: (options) => openVisitor(browser, options),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function openVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  context.setDefaultTimeout(WAIT_MS)
  const faults: string[] = []
  const streams = new Set<unknown>()
  await context.exposeFunction('tellFault', (line: string) => void faults.push(line))
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    tellFault('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`)
  let own = ''
  context.on('request', (request) => {
    const { origin, pathname, protocol } = new URL(request.url())
    if (origin !== own && protocol !== 'data:') faults.push(`asked another server: ${request.url()}`)
    if (pathname === '/v1/events') streams.add(request)
  })
  context.on('requestfinished', (request) => void streams.delete(request))
  context.on('requestfailed', (request) => void streams.delete(request))
  context.on('weberror', (error) => void faults.push(`threw: ${error.error().message}`))
  return {
    faults,
    streams: () => streams.size,
    async tab(url) {
      own = new URL(url).origin
      const page = await context.newPage()
      await page.goto(url)
      return page
    },
  }
}

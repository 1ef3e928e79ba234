import type { Page } from 'playwright-core'
import { adminPassword, type Fairlead, startFairlead } from '../start-fairlead.ts'
import { openBrowser, type TestBrowser, type Visitor } from './open-browser.ts'
import { heading, signIn } from './visit.ts'

/** A whole Fairlead, and a browser whose first visitor is before its console. */
export interface OpenConsole extends AsyncDisposable {
  readonly fairlead: Fairlead
  readonly browser: TestBrowser
  readonly admin: Visitor
  /** A tab of `admin`. */
  readonly page: Page
}

type Options = Parameters<typeof startFairlead>[0] & { readonly signedIn?: boolean }

/** Starts both. The admin has signed in, unless `signedIn` is false. */
export async function openConsole(options: Options = {}): Promise<OpenConsole> {
  const { signedIn, ...others } = options
  await using opened = new AsyncDisposableStack()
  const fairlead = opened.use(await startFairlead(others))
  const here = opened.use(await openConsoleOf(fairlead, { signedIn: signedIn ?? true }))
  const owned = opened.move()
  return { ...here, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Starts a browser for a Fairlead that goes on when the browser is closed. */
export async function openConsoleOf(
  fairlead: Fairlead,
  { signedIn = true }: Pick<Options, 'signedIn'> = {},
): Promise<OpenConsole> {
  await using opened = new AsyncDisposableStack()
  const browser = opened.use(await openBrowser())
  const admin = await browser.visitor()
  const page = await admin.tab(fairlead.url)
  if (signedIn) {
    await signIn(page, 'admin', adminPassword)
    await heading(page, 'Overview')
  }
  const owned = opened.move()
  return { fairlead, browser, admin, page, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

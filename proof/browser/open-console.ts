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

/** Starts both. The admin has signed in, unless `signedIn` is false. */
export async function openConsole(
  options: Parameters<typeof startFairlead>[0] & { readonly signedIn?: boolean } = {},
): Promise<OpenConsole> {
  const { signedIn = true, ...others } = options
  await using opened = new AsyncDisposableStack()
  const parts = await Promise.allSettled([startFairlead(others), openBrowser()])
  for (const part of parts) if (part.status === 'fulfilled') opened.use(part.value)
  const [fairlead, browser] = parts
  if (fairlead.status === 'rejected') throw fairlead.reason
  if (browser.status === 'rejected') throw browser.reason
  const admin = await browser.value.visitor()
  const page = await admin.tab(fairlead.value.url)
  if (signedIn) {
    await signIn(page, 'admin', adminPassword)
    await heading(page, 'Overview')
  }
  const owned = opened.move()
  return {
    ...{ fairlead: fairlead.value, browser: browser.value, admin, page },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { heading, press, signIn, visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'
import { untilAction } from '../../../proof/way-back.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const [old, next] = ['a-password-of-long-ago', 'a-password-of-today']

describe.skipIf(chromiumHere() === null)('a session that ends on the page of an upgrade', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let page: Page
  let action = ''

  beforeAll(async () => {
    here = await openConsole({ signedIn: false })
    ;({ fairlead, page } = here)
    const { uid } = await createDatabase(fairlead, {
      name: 'orders',
      memory_size: 64 << 20,
      engine_version: build('valkey', '8.0'),
      replication: false,
    })
    for (const name of ['mia', 'lou'])
      await fairlead.api.createUser({ body: { name, password: old, role: 'admin' } })
    const body = {
      engine_version: build('valkey', '8.1'),
      supervised: true,
      rollback_window: 'until_finalized' as const,
    }
    ;({ action_uid: action = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body }))
    await untilAction(fairlead, action, 'it is ready', ({ phase }) => phase === 'ready')
    await signIn(page, 'mia', old)
    await heading(page, 'Overview')
    await visit(page, `${fairlead.url}/actions/${action}`)
    await page.evaluate('globalThis.wasLoadedOnce = true')
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  const overlay = () => page.getByText('Your session has ended')
  const endSession = async () => {
    await page.context().clearCookies()
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`)
    await overlay().waitFor()
  }

  test('one answer that no user is signed in is asked about, and nothing covers the page when one is', async () => {
    await page.evaluate(`{
      globalThis.covered = 0
      new MutationObserver(() => { if (document.querySelector('.login') !== null) covered += 1 })
        .observe(document, { subtree: true, childList: true })
    }`)
    const json = { error_code: 'unauthorized', message: 'no user is signed in', obstacles: [] }
    await page.route(`**/v1/actions/${action}`, (route) => route.fulfill({ status: 401, json }), { times: 1 })
    const asked = page.waitForResponse('**/v1/users/self')
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`)
    expect((await asked).status()).toBe(200)
    await press(page, 'Pause', 'Enter')
    await page.locator('[data-phase=paused]').waitFor()
    await press(page, 'Resume', 'Enter')
    await page.locator('[data-phase=ready]').waitFor()
    expect(await page.evaluate('covered')).toBe(0)
  })

  test('the page is covered, goes on after the sign-in, and has missed nothing', async () => {
    await endSession()
    expect(await page.locator('[data-phase]').isVisible()).toBe(false)
    expect(await findBarriers(page)).toEqual([])
    await fairlead.api.resumeAction({ params: { uid: action } })
    await untilAction(fairlead, action, 'its window is open', ({ phase }) => phase === 'window')
    await signIn(page, 'mia', old)
    await page.locator('[data-phase=window]').waitFor()
    await page.locator('.certificate').waitFor()
    expect(await page.evaluate('wasLoadedOnce')).toBe(true)
  })

  test('a locked user reads the same words as with a wrong password', async () => {
    const visitor = await here.browser.visitor()
    const tab = await visitor.tab(fairlead.url)
    const refusal = async (password: string) => {
      const answer = tab.waitForResponse('**/v1/session')
      await signIn(tab, 'lou', password)
      await answer
      const alert = tab.getByRole('alert')
      await alert.waitFor()
      return `${await alert.getAttribute('data-code')} ${await alert.innerText()}`
    }
    const wrong = await refusal('not-the-password')
    for (let tries = 1; tries < 5; tries += 1) await refusal('not-the-password')
    expect((await fairlead.api.listUsers({})).find(({ name }) => name === 'lou')?.status).toBe('locked')
    expect(await refusal(old)).toBe(wrong)
    expect(wrong).toContain('invalid_credentials')
    expect(visitor.faults).toEqual([])
  })

  test('a password that has expired is changed in place, and the page goes on', async () => {
    await fairlead.api.updateCluster({ body: { password_expiration_duration: 30 } })
    await fairlead.server.end('SIGTERM')
    age(fairlead.home, 'mia', 40)
    await fairlead.server.start()
    await endSession()
    await signIn(page, 'mia', old)
    await page.locator('[data-code=password_expired]').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByLabel('New password').fill('short')
    const enter = page.getByRole('button', { name: /^Change the password/ })
    await enter.click()
    expect(await overlay().isVisible()).toBe(true)
    await page.getByLabel('New password').fill(next)
    await enter.click()
    await page.locator('[data-phase=window]').waitFor()
    expect(await page.evaluate('wasLoadedOnce')).toBe(true)
    await press(page, /^Finalize/, 'Enter')
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Finalize/ })
      .click()
    await page.getByText(/^Completed after/).waitFor()
    await endSession()
    await signIn(page, 'mia', next)
    await page.getByText(/^Completed after/).waitFor()
    expect(here.admin.faults).toEqual([])
  })
})

/** As if the user had its password since so many days. No clock of a machine is turned for it. */
function age(home: string, name: string, days: number): void {
  // A server with a user of its own has it in a folder of its own.
  const own = join(home, 'server', 'own', 'store.db')
  const store = new DatabaseSync(existsSync(own) ? own : join(home, 'store.db'))
  try {
    const at = new Date(Date.now() - days * 86_400_000).toISOString()
    const aged = store
      .prepare('UPDATE passwords SET issued_at = ? WHERE user_uid = (SELECT uid FROM users WHERE name = ?)')
      .run(at, name)
    expect(aged.changes).toBe(1)
  } finally {
    store.close()
  }
}

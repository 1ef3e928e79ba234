import { describe, expect } from 'vitest'
import { chromiumHere } from '../../proof/browser/chromium.ts'
import { type OpenConsole, openConsoleOf } from '../../proof/browser/open-console.ts'
import { heading, press, signIn } from '../../proof/browser/visit.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { adminPassword } from '../../proof/start-fairlead.ts'
import { test } from '../support/shared-fairlead.ts'

const { from, to } = usualPair()

/** Other users, tabs, keys, lists and faults are in e2e/proof/console. */
describe.skipIf(chromiumHere() === null)('in a browser a person', () => {
  let here: OpenConsole
  const name = freshName('orders')
  test.beforeAll(async ({ fairlead }) => {
    here = await openConsoleOf(fairlead, { signedIn: false })
  })
  test.afterAll(() => here?.[Symbol.asyncDispose]())

  test('signs in with a password, and with no other', async () => {
    const { page } = here
    await signIn(page, 'admin', 'not-the-password')
    await page.locator('[data-code=invalid_credentials]').waitFor()
    await signIn(page, 'admin', adminPassword)
    await heading(page, 'Overview')
    await page.locator('[data-live=live]').waitFor()
  })

  test('creates a database, and sees that it serves', async ({ fairlead }) => {
    const { page } = here
    await page.getByRole('link', { name: 'Databases', exact: true }).click()
    await page.getByRole('link', { name: 'New database' }).click()
    await heading(page, 'New database')
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Engine').selectOption(from)
    await page.getByLabel('Memory in MiB').fill('64')
    await page.getByRole('button', { name: 'Create' }).click()
    await heading(page, name)
    await page.getByRole('link', { name: 'Upgrade…' }).waitFor()
    expect(await databaseOf(fairlead, name)).toMatchObject({ status: 'active', memory_size: 64 << 20 })
  })

  test('upgrades it after a dry run, with a stop before the handover', async ({ fairlead }) => {
    const { page } = here
    await page.getByRole('link', { name: 'Upgrade…' }).click()
    await heading(page, `Upgrade ${name}`)
    await page.getByLabel(to.replace('-', ' ')).check()
    await page.getByLabel('Stop before the first handover').check()
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.locator('.trial[data-tone=ok]').waitFor()
    await page.getByRole('button', { name: 'Start the upgrade' }).click()
    await page.locator('[data-phase=ready]').waitFor()
    await press(page, 'Resume', 'Enter')
    await page.locator('[data-phase=window]').waitFor()
    await page.locator('.certificate').waitFor()
    expect(await lastActionOf(fairlead, name)).toMatchObject({ phase: 'window', outcome: null })
  })

  test('rolls it back, after a question whose first button changes nothing', async ({ fairlead }) => {
    const { page, admin } = here
    await press(page, /^Roll back/, 'Enter')
    await page.getByRole('dialog').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Stay as it is')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[data-phase=ended]').waitFor()
    expect(await lastActionOf(fairlead, name)).toMatchObject({
      outcome: 'rolled_back',
      certificates: [{}, {}],
    })
    // No page broke its policy, threw, or asked another server.
    expect(admin.faults).toEqual([])
  })
})

async function databaseOf({ api }: OpenConsole['fairlead'], name: string) {
  return (await api.listDatabases({})).find((one) => one.name === name)
}

async function lastActionOf(fairlead: OpenConsole['fairlead'], name: string) {
  const { uid = 0 } = (await databaseOf(fairlead, name)) ?? {}
  return (await fairlead.api.listDatabaseActions({ params: { uid }, query: { limit: 1 } }))[0]
}

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { untilAction } from '../../../proof/way-back.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

describe.skipIf(chromiumHere() === null)('a laptop that sleeps', () => {
  let here: OpenConsole
  beforeAll(async () => {
    here = await openConsole()
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  test('wakes with a page that says that it is stale, and goes on without a gap, though its connection is gone', async () => {
    const { fairlead, admin, page } = here
    const { uid } = await createDatabase(fairlead, {
      name: 'orders',
      memory_size: 64 << 20,
      engine_version: build('valkey', '8.0'),
      replication: false,
    })
    const body = { engine_version: build('valkey', '8.1'), supervised: true }
    const { action_uid: action = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body })
    await untilAction(fairlead, action, 'it is ready', ({ phase }) => phase === 'ready')
    await page.addInitScript(`{
      const now = Date.now.bind(Date)
      globalThis.sleptMs = 0
      Date.now = () => now() + sleptMs
    }`)
    await visit(page, `${fairlead.url}/actions/${action}`)
    await page.locator('[data-phase=ready]').waitFor()
    await page.evaluate(`{
      globalThis.wasLoadedOnce = true
      const seen = globalThis.seen = []
      const note = () => {
        const now = document.querySelector('.live-chip')?.dataset.live
        if (seen.at(-1) !== now) seen.push(now)
      }
      new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true })
      note()
    }`)

    const session = await page.context().newCDPSession(page)
    await session.send('Page.setWebLifecycleState', { state: 'frozen' })
    await fairlead.api.resumeAction({ params: { uid: action } })
    await fairlead.untilEnded(action)
    await fairlead.server.end('SIGKILL')
    await page.evaluate('sleptMs = 5 * 60_000')
    await session.send('Page.setWebLifecycleState', { state: 'active' })
    await page.locator('[data-live=stale]').waitFor()
    await fairlead.server.start()
    await page.locator('[data-live=live]').waitFor()
    await page.getByText(/^Completed after/).waitFor()
    const seen = await page.evaluate<string[]>('seen')
    expect(seen.filter((each) => each !== 'reconnecting')).toEqual(['live', 'stale', 'live'])
    expect(await page.evaluate('wasLoadedOnce')).toBe(true)

    const other = await admin.tab(`${fairlead.url}/actions/${action}`)
    for (const tab of [page, other]) {
      await tab.getByText(/^Completed after/).waitFor()
      await tab.keyboard.press('e')
      await tab.getByRole('log').getByRole('listitem').first().waitFor()
    }
    const eventsOf = (tab: typeof page) => tab.getByRole('log').getByRole('listitem').allInnerTexts()
    expect(await eventsOf(page)).toEqual(await eventsOf(other))
    expect(admin.faults).toEqual([])
  })
})

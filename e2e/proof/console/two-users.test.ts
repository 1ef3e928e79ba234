import type { Action } from '@fairlead/api'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import type { Visitor } from '../../../proof/browser/open-browser.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { heading, press, signIn, visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'
import { untilAction } from '../../../proof/way-back.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

/** An order that a page has given, and that has not reached the server yet. */
interface OrderOnItsWay {
  arrive(): Promise<void>
}

describe.skipIf(chromiumHere() === null)('two users who order at once, each in a browser', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let mine: Page
  let other: Visitor
  let theirs: Page

  beforeAll(async () => {
    here = await openConsole()
    ;({ fairlead, page: mine } = here)
    await createDatabase(fairlead, {
      name: 'orders',
      memory_size: 64 << 20,
      engine_version: build('valkey', '8.0'),
      replication: false,
    })
    await fairlead.api.createUser({ body: { name: 'mia', password: 'orders-at-once', role: 'admin' } })
    other = await here.browser.visitor()
    theirs = await other.tab(fairlead.url)
    await signIn(theirs, 'mia', 'orders-at-once')
    await heading(theirs, 'Overview')
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  /** Begins an upgrade, and shows it to both when it is in this phase. */
  async function upgradeUntil(phase: Action['phase'], more: object = {}): Promise<string> {
    const engine_version = build('valkey', '8.1')
    const body = { engine_version, rollback_window: 'until_finalized' as const, ...more }
    const { action_uid: action = '' } = await fairlead.api.upgradeDatabase({ params: { uid: 1 }, body })
    await untilAction(fairlead, action, `it is ${phase}`, (seen) => seen.phase === phase)
    for (const page of [mine, theirs]) {
      await visit(page, `${fairlead.url}/actions/${action}`)
      await page.locator(`[data-phase=${phase}]`).waitFor()
      await notePhases(page)
    }
    return action
  }
  const confirm = async (page: Page, name: RegExp) => {
    await press(page, name, 'Enter')
    await page.getByRole('dialog').getByRole('button', { name }).click()
  }

  test('a rollback is ordered before a finalization arrives: the user who finalizes sees why it is refused', async () => {
    const action = await upgradeUntil('window')
    const held = await holdOrder(theirs, action, 'finalize')
    await confirm(theirs, /^Finalize/)
    const order = await held.given
    await confirm(mine, /^Roll back/)
    await theirs.locator('[data-phase=window]').waitFor({ state: 'detached' })
    await order.arrive()
    await theirs.getByRole('alert').getByText('order_not_applicable').waitFor()
    await Promise.all([mine, theirs].map((page) => page.locator('[data-outcome=rolled_back]').waitFor()))
    for (const page of [mine, theirs]) expect(await phasesOf(page)).toEqual(['window', 'undoing', 'ended'])
  })

  test('both resume a paused upgrade: the user who comes second sees why it is refused, and both pages go on', async () => {
    const action = await upgradeUntil('ready', { supervised: true })
    await press(mine, 'Pause', 'Enter')
    for (const page of [mine, theirs]) await page.locator('[data-phase=paused]').waitFor()
    const held = await holdOrder(theirs, action, 'resume')
    await press(theirs, 'Resume', 'Enter')
    const order = await held.given
    await press(mine, 'Resume', 'Enter')
    await theirs.locator('[data-phase=ready]').waitFor()
    await press(mine, 'Resume', 'Enter')
    await theirs.locator('[data-phase=window]').waitFor()
    await order.arrive()
    await theirs.getByRole('alert').getByText('order_not_applicable').waitFor()
    for (const page of [mine, theirs]) expect((await phasesOf(page)).at(-1)).toBe('window')
    await fairlead.api.rollbackAction({ params: { uid: action } })
    await theirs.locator('[data-outcome=rolled_back]').waitFor()
  })

  test('a pause that arrives after a resume is taken, too, and both pages say how it is now', async () => {
    const action = await upgradeUntil('ready', { supervised: true })
    const held = await holdOrder(theirs, action, 'pause')
    await press(theirs, 'Pause', 'Enter')
    const order = await held.given
    await press(mine, 'Resume', 'Enter')
    await mine.locator('[data-phase=window]').waitFor()
    await order.arrive()
    for (const page of [mine, theirs]) await page.locator('[data-phase=paused]').waitFor()
    for (const page of [mine, theirs]) expect(await page.getByRole('alert').count()).toBe(0)
    await fairlead.api.rollbackAction({ params: { uid: action } })
    for (const page of [mine, theirs]) await page.locator('[data-outcome=rolled_back]').waitFor()
  })

  test('a finalization is ordered before a rollback arrives: the user who rolls back sees why it is refused', async () => {
    const action = await upgradeUntil('window')
    const held = await holdOrder(theirs, action, 'rollback')
    await confirm(theirs, /^Roll back/)
    const order = await held.given
    await confirm(mine, /^Finalize/)
    await theirs.getByText(/^Completed after/).waitFor()
    await order.arrive()
    await theirs.getByRole('alert').getByText('action_ended').waitFor()
    for (const page of [mine, theirs]) expect((await phasesOf(page)).at(-1)).toBe('ended')
    expect((await fairlead.api.getAction({ params: { uid: action } })).outcome).toBe('completed')
  })

  test('no page broke its policy, threw, or asked another server', () => {
    expect([...here.admin.faults, ...other.faults]).toEqual([])
  })
})

/** Holds the next order of this page until it is let go. */
async function holdOrder(page: Page, action: string, order: string) {
  const { promise: given, resolve } = Promise.withResolvers<OrderOnItsWay>()
  const hold = (route: Route) => resolve({ arrive: () => route.continue() })
  await page.route(`**/v1/actions/${action}/${order}`, hold, { times: 1 })
  return { given }
}

/** From now on the page notes each phase that it shows, once in a row. */
async function notePhases(page: Page): Promise<void> {
  await page.evaluate(`{
    const phases = globalThis.phases = []
    const note = () => {
      const phase = document.querySelector('[data-phase]')?.dataset.phase
      if (phase !== undefined && phases.at(-1) !== phase) phases.push(phase)
    }
    new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true })
    note()
  }`)
}

const phasesOf = (page: Page) => page.evaluate<string[]>('phases')

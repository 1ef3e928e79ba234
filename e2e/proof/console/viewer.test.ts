import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere } from '../../../proof/browser/chromium.ts'
import type { Visitor } from '../../../proof/browser/open-browser.ts'
import { type OpenConsole, openConsole } from '../../../proof/browser/open-console.ts'
import { heading, signIn, visit } from '../../../proof/browser/visit.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { build } from '../../../proof/engine-pairs.ts'
import type { Fairlead } from '../../../proof/start-fairlead.ts'
import { untilAction } from '../../../proof/way-back.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

describe.skipIf(chromiumHere() === null)('a user who may only look, in a browser', () => {
  let here: OpenConsole
  let fairlead: Fairlead
  let viewer: Visitor
  let page: Page
  let action = ''

  beforeAll(async () => {
    here = await openConsole()
    ;({ fairlead } = here)
    const { uid } = await createDatabase(fairlead, {
      name: 'orders',
      memory_size: 64 << 20,
      engine_version: build('valkey', '8.0'),
      replication: false,
    })
    await fairlead.api.createUser({
      body: { name: 'eve', password: 'only-looks-at-it', role: 'cluster_viewer' },
    })
    const body = { engine_version: build('valkey', '8.1'), supervised: true }
    ;({ action_uid: action = '' } = await fairlead.api.upgradeDatabase({ params: { uid }, body }))
    await untilAction(fairlead, action, 'it is ready', ({ phase }) => phase === 'ready')
    viewer = await here.browser.visitor()
    page = await viewer.tab(fairlead.url)
    await signIn(page, 'eve', 'only-looks-at-it')
    await heading(page, 'Overview')
    await visit(page, `${fairlead.url}/actions/${action}`)
  })
  afterAll(() => here?.[Symbol.asyncDispose]())

  const phaseNow = async () => (await fairlead.api.getAction({ params: { uid: action } })).phase

  test('sees each order turned off, with the permission that it needs', async () => {
    await page.locator('[data-phase=ready]').waitFor()
    const orders = page.locator('.order button')
    expect([...(await orders.allInnerTexts())].toSorted()).toEqual(['Cancel the upgrade', 'Pause', 'Resume'])
    for (const order of await orders.all()) {
      expect(await order.getAttribute('aria-disabled')).toBe('true')
      expect(await order.getAttribute('title')).toMatch(/needs [a-z_]+ for this database/)
    }
  })

  test('is refused by the server when the page itself asks for an order, a change and a deletion', async () => {
    const asked = [
      ['POST', `/v1/actions/${action}/resume`],
      ['POST', `/v1/actions/${action}/cancel`],
      ['POST', '/v1/bdbs/1/upgrade', { engine_version: build('valkey', '8.1') }],
      ['PUT', '/v1/bdbs/1', { memory_size: 1 << 30 }],
      ['DELETE', '/v1/bdbs/1'],
      ['POST', '/v1/users', { name: 'mia', password: 'made-by-a-viewer', role: 'admin' }],
    ] as const
    for (const [method, path, body] of asked) {
      const { status, code } = await askFromPage(page, method, path, body)
      expect([method, path, status, code]).toEqual([method, path, 403, 'forbidden'])
    }
    expect(await phaseNow()).toBe('ready')
  })

  test('gets the refusal in words beside a button that it has turned on by hand', async () => {
    await page.route(`**/v1/actions/${action}`, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      json.orders.resume = { ok: true, error_code: null, why: '', consequence: 'it goes on' }
      await route.fulfill({ response, json })
    })
    await visit(page, page.url())
    await page.getByRole('button', { name: 'Resume', disabled: false }).click()
    const order = page.locator('.order', { hasText: 'Resume' })
    await order
      .getByRole('alert')
      .getByText(/lack the permission [a-z_]+/)
      .waitFor()
    expect(await order.getByRole('alert').getAttribute('data-code')).toBe('forbidden')
    await order.getByRole('button', { name: 'Resume' }).waitFor()
    expect(await phaseNow()).toBe('ready')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('changes nothing by taking the attribute from a button that is off', async () => {
    await visit(page, page.url())
    const given: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'GET') given.push(request.url())
    })
    const cancel = page.getByRole('button', { name: 'Cancel' })
    await cancel.waitFor()
    await page.evaluate(`{
      const button = [...document.querySelectorAll('.order button')].find((one) => one.textContent === 'Cancel the upgrade')
      button.setAttribute('aria-disabled', 'false')
      button.click()
    }`)
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(given).toEqual([])
    expect(await phaseNow()).toBe('ready')
    expect(viewer.faults).toEqual([])
  })
})

/** With the cookie, and the header by which the server knows the console. */
function askFromPage(page: Page, method: string, path: string, body?: object) {
  const text = JSON.stringify({ method, body: body === undefined ? undefined : JSON.stringify(body) })
  return page.evaluate<{ status: number; code: string }>(`(async () => {
    const headers = { 'content-type': 'application/json', 'fairlead-request': '1' }
    const answer = await fetch(${JSON.stringify(path)}, { ...${text}, headers })
    return { status: answer.status, code: (await answer.json()).error_code }
  })()`)
}

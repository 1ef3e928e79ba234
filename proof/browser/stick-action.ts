import type { Page, Route } from 'playwright-core'

/** Why it is stuck, as the page is told. */
export const stuckWhy =
  'shard 9 hangs (it has not answered for 45 s), and no other shard and no disk holds its data: a person has to decide whether to end its process'

/**
 * From now on this page is told that an action is stuck: a real one, whose answer is changed on its way, because an upgrade that is stuck by itself takes minutes of a
 * machine that does nothing else. What the server says then is tested there.
 */
export async function stickAction(page: Page, uid: string): Promise<void> {
  // Of a request under way when the page goes on there is nothing to answer any more.
  await page.route(`**/v1/actions/${uid}`, (route) => answerStuck(route).catch(() => undefined))
}

async function answerStuck(route: Route): Promise<void> {
  const response = await route.fetch()
  const action = (await response.json()) as Record<string, unknown>
  const waiting = {
    ...{ on: 'person', hold_reason: 'shard_hung', shard: '9', until: null, why: stuckWhy },
    since: new Date(Date.now() - 12 * 60_000).toISOString(),
  }
  const no = { ok: false, error_code: 'order_not_applicable', why: 'it is stuck', consequence: '' }
  const lanes = (action['lanes'] as object[]).map((lane) => ({ ...lane, state: 'stuck', waiting }))
  const orders = { ...(action['orders'] as object), resume: no, pause: no }
  await route.fulfill({ response, json: { ...action, phase: 'stuck', waiting, lanes, orders } })
}

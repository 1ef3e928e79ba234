import type { Page } from 'playwright-core'

/** What the target says, as the page is told. */
export const refusalWhy =
  'valkey-server ended at once with code 1: Bad directive or wrong number of arguments, line 12'

/**
 * From now on this page is told that the target of a dry run does not start: a real answer, changed on its
 * way. Targets that really do not start are tested there.
 */
export async function refuseTrial(page: Page): Promise<void> {
  await page.route(/\/v1\/bdbs\/\d+\/upgrade\?.*dry_run/, async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as { readonly plan: object }
    const trial = { ok: false, why: refusalWhy, start_ms: 41 }
    await route.fulfill({ response, json: { ...answer, plan: { ...answer.plan, trial } } })
  })
}

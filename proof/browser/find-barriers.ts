import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Found {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/**
 * What keeps people out of a page, by the rules of axe (WCAG 2.2 A and AA, and best practice): one line for
 * each place.
 */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<readonly Found[]>(
    'axe.run(document).then(({ violations }) => violations)',
  )
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id} (${help}): ${html.slice(0, 160)} ${failureSummary}`),
  )
}

import type { Page } from 'playwright-core'
import { serveLook } from '../../packages/web/build/serve-look.ts'
import { openBrowser } from './open-browser.ts'

/** When all stories are told: times in them are beside it. */
const NOW = '2026-11-26T07:42:00.000Z'

/** What there is of the components. */
export interface Stories extends AsyncDisposable {
  readonly page: Page
  /** What the page did that no page may do. */
  readonly faults: readonly string[]
  /** The script that it loads. */
  readonly script: string
  /** The version of Chromium. */
  browserVersion(): string
  /** The names of the components. */
  names(): Promise<readonly string[]>
  /** A picture of a component in all its states, PNG. */
  pictureOf(name: string): Promise<Buffer>
}

/** Opens the pages of components where everything that could differ is fixed: time, zone, language, width and motion. */
export async function openStories(): Promise<Stories> {
  await using opened = new AsyncDisposableStack()
  const look = opened.use(await serveLook())
  const browser = opened.use(await openBrowser())
  const { tab, faults } = await browser.visitor({
    ...{ viewport: { width: 900, height: 900 }, deviceScaleFactor: 1, colorScheme: 'light' },
    ...{ timezoneId: 'UTC', locale: 'en-GB', reducedMotion: 'reduce' },
  })
  const page = await tab(look.url)
  await page.clock.setFixedTime(NOW)
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  const owned = opened.move()
  return {
    ...{ page, faults, script: look.files.get('/__look/look.js') ?? '' },
    browserVersion: () => page.context().browser()?.version() ?? 'unknown',
    names: async () =>
      (
        await page.evaluate<string>(
          `[...document.querySelectorAll('[data-story]')].map(({ dataset }) => dataset.story).join()`,
        )
      ).split(','),
    pictureOf: (name) => page.locator(`[data-story="${name}"]`).screenshot({ animations: 'disabled' }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

import type { Page } from 'playwright-core'

/** Signs in on the page that is shown. */
export async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Waits for the heading of a page. */
export async function heading(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
}

/**
 * Without a click: as a person without a mouse does it. Waits until the button may be pressed: an order is
 * off until the server has said that it applies.
 */
export async function press(page: Page, name: string | RegExp, key: string): Promise<void> {
  const button = page.getByRole('button', { name, disabled: false })
  await button.focus()
  await button.press(key)
}

/** To a page with its content, and its stream. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('[data-live=live]').waitFor()
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
}

import type { Page } from 'playwright-core'

/** Unfolds everything, and what is folded in it. */
export async function openAll(page: Page): Promise<void> {
  const all = page.locator('#content details:not([open]) > summary')
  for (let n = 0; n < 20 && (await all.count()) > 0; n += 1) await all.first().click()
}

/** The width that the whole page needs, in pixels. */
export const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

/**
 * Tables that would have to be moved sideways, cells that are not in the window, and names of columns that
 * have not room for their longest word.
 */
export const findCut = (page: Page) =>
  page.evaluate<readonly string[]>(`{
    const boxes = [...document.querySelectorAll('.table-box')].filter((box) => box.scrollWidth > box.clientWidth)
    const cells = [...document.querySelectorAll('tbody :is(th, td)')].filter((cell) => {
      const { left, right } = cell.getBoundingClientRect()
      return left < 0 || right > innerWidth
    })
    const pen = new OffscreenCanvas(1, 1).getContext('2d')
    const names = [...document.querySelectorAll('td[data-label]')].filter((cell) => {
      const { float, width, font } = getComputedStyle(cell, '::before')
      pen.font = font
      const words = cell.dataset.label.split(' ').map((word) => pen.measureText(word).width)
      return cell.checkVisibility() && float === 'left' && Math.max(...words) > parseFloat(width)
    })
    ;[...names.map((cell) => 'the name ' + cell.dataset.label), ...boxes.map((box) => box.ariaLabel + ' ' + box.scrollWidth), ...cells.map((cell) => cell.textContent)]
  }`)

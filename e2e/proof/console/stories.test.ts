import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { consoleFolder } from '@fairlead/web'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumHere, unpackedChromium } from '../../../proof/browser/chromium.ts'
import { findBarriers } from '../../../proof/browser/find-barriers.ts'
import { openStories, type Stories } from '../../../proof/browser/picture-stories.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const folder = join(import.meta.dirname, '../../console/stories')
/** Only our own Chromium has our own fonts, and none but them. */
const isOurs = chromiumHere()?.program.startsWith(unpackedChromium) === true
/** A colour that differs by no more, of 255, is the same; and so is a picture in which no more pixels differ: less than one letter. */
const SAME_COLOUR = 12
const SAME_PIXELS = 24

describe.skipIf(chromiumHere() === null)('the components of the console, each in its states', () => {
  let stories: Stories
  beforeAll(async () => {
    stories = await openStories()
  })
  afterAll(() => stories?.[Symbol.asyncDispose]())

  test.skipIf(!isOurs)('look as in their pictures', async ({ skip }) => {
    const names = await stories.names()
    const files = [...names.map((name) => `${name}.png`), 'browser.txt']
    expect(readdirSync(folder).toSorted()).toEqual(files.toSorted())
    // Another version may draw letters otherwise.
    const recordedWith = readFileSync(join(folder, 'browser.txt'), 'utf8').trim()
    const isSame = recordedWith === stories.browserVersion()
    skip(
      !isSame,
      `they were taken by Chromium ${recordedWith}: proof/browser/record-stories.ts takes them anew`,
    )
    for (const name of names) {
      const before = readFileSync(join(folder, `${name}.png`))
      const difference = await compare(stories, before, await stories.pictureOf(name))
      expect
        .soft(difference, `${name}: look at it, and if it is meant: proof/browser/record-stories.ts`)
        .toBe('')
    }
  })

  test('are without barriers, light and dark, and in a phone', async () => {
    for (const colorScheme of ['dark', 'light'] as const) {
      await stories.page.emulateMedia({ colorScheme })
      expect(await findBarriers(stories.page)).toEqual([])
    }
    await stories.page.setViewportSize({ width: 390, height: 844 })
    expect(await stories.page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await findBarriers(stories.page)).toEqual([])
    expect(stories.faults).toEqual([])
  })

  test('are in nothing that the server serves', () => {
    const mark = 'data-story'
    expect(stories.script).toContain(mark)
    const served = readdirSync(join(consoleFolder, 'assets')).filter((name) => name.endsWith('.js'))
    expect(served).not.toEqual([])
    const having = served.filter((name) =>
      readFileSync(join(consoleFolder, 'assets', name), 'utf8').includes(mark),
    )
    expect(having).toEqual([])
  })
})

/** What differs, in words; empty: nothing that one could see. The browser decodes the pictures. */
function compare({ page }: Stories, before: Buffer, now: Buffer): Promise<string> {
  const [a, b] = [before, now].map((png) => `data:image/png;base64,${png.toString('base64')}`)
  return page.evaluate<string>(`(async () => {
    const [a, b] = await Promise.all(${JSON.stringify([a, b])}.map(async (url) => {
      const image = new Image()
      image.src = url
      await image.decode()
      const canvas = new OffscreenCanvas(image.width, image.height)
      const drawing = canvas.getContext('2d')
      drawing.drawImage(image, 0, 0)
      return drawing.getImageData(0, 0, image.width, image.height)
    }))
    if (a.width !== b.width || a.height !== b.height)
      return 'it is ' + b.width + ' by ' + b.height + ', and was ' + a.width + ' by ' + a.height
    let differ = 0
    for (let at = 0; at < a.data.length; at += 4)
      if ([0, 1, 2].some((part) => Math.abs(a.data[at + part] - b.data[at + part]) > ${SAME_COLOUR})) differ += 1
    return differ > ${SAME_PIXELS} ? differ + ' pixels differ' : ''
  })()`)
}

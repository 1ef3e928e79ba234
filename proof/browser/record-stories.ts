/**
 * `node --conditions=@fairlead/source proof/browser/record-stories.ts`: takes the pictures anew with which e2e/proof/console/stories.test.ts compares each
 * component of the console. Look at what has changed before it is committed.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStories } from './picture-stories.ts'

const folder = join(import.meta.dirname, '../../e2e/console/stories')
await using stories = await openStories()
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
for (const name of await stories.names())
  await writeFile(join(folder, `${name}.png`), await stories.pictureOf(name))
await writeFile(join(folder, 'browser.txt'), `${stories.browserVersion()}\n`)

/**
 * `node --conditions=@fairlead/source proof/browser/prepare-chromium.ts`: unpacks Debian's Chromium without
 * windows, and a font, for the tests of the console. Part of the set-up of `npm test`. A failure is a line on
 * stderr and exit code 1.
 */
import { existsSync } from 'node:fs'
import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FetchError, fetchTree } from '@fairlead/agent'
import { unpackedChromium, unpackedFonts } from './chromium.ts'

/** The C library, which this machine has in the same or a newer version. */
const notWanted = /^(libc6|libgcc|libstdc|libcrypt1|libc-bin)/
const suite = 'bookworm'

try {
  if (!existsSync(unpackedFonts)) await fetchFonts()
  if (!existsSync(unpackedChromium)) await fetchChromium()
} catch (cause) {
  if (!(cause instanceof FetchError)) throw cause
  process.exitCode = 1
  process.stderr.write(
    `Chromium could not be fetched, the tests of the console are skipped: ${cause.message}\n`,
  )
}

async function fetchFonts(): Promise<void> {
  const made = `${unpackedFonts}.new`
  await rm(made, { recursive: true, force: true })
  await fetchTree({ suite, packageName: 'fonts-dejavu-core', isHere: () => true, to: made })
  const settings = '<dir prefix="relative">usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir>'
  const file = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${settings}</fontconfig>\n`
  await writeFile(join(made, 'fonts.conf'), file)
  await rename(made, unpackedFonts)
}

/** The program and its libraries, and from another package what it loads beside them. */
async function fetchChromium(): Promise<void> {
  const [made, shared] = [`${unpackedChromium}.new`, `${unpackedChromium}.shared`]
  for (const folder of [made, shared]) await rm(folder, { recursive: true, force: true })
  const isHere = (library: string) => notWanted.test(library)
  await fetchTree({ suite, packageName: 'chromium-headless-shell', isHere, to: made })
  await fetchTree({ suite, packageName: 'chromium-common', isHere: () => true, to: shared })
  const within = 'usr/lib/chromium'
  for (const name of await readdir(join(shared, within)))
    await rename(join(shared, within, name), join(made, within, name))
  await rm(shared, { recursive: true, force: true })
  await rename(made, unpackedChromium)
}

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where the set-up of `npm test` unpacks Chromium on a machine without one. */
export const unpackedChromium = join(import.meta.dirname, '../../.fairlead/test-chromium')
/** A font beside it, because a machine without a screen may have none. */
export const unpackedFonts = join(import.meta.dirname, '../../.fairlead/test-fonts')

/** A browser to start, and the environment that it needs. */
export interface ChromiumHere {
  readonly program: string
  readonly environment: Readonly<Record<string, string>>
}

/** The Chromium that the set-up has unpacked, or else an installed one; null: there is none. */
export function chromiumHere(tree: string = unpackedChromium, installed = '/usr'): ChromiumHere | null {
  const own = programIn(join(tree, 'usr'))
  if (own !== null) return { program: own, environment: environmentOf(tree) }
  const program = programIn(installed)
  return program === null ? null : { program, environment: {} }
}

function programIn(usr: string): string | null {
  const places = [
    'lib/chromium/headless-shell',
    'lib/chromium/chromium-headless-shell',
    'lib/chromium/chromium',
  ]
  return places.map((place) => join(usr, place)).find((path) => existsSync(path)) ?? null
}

function environmentOf(tree: string): Readonly<Record<string, string>> {
  const kinds = [join(tree, 'lib'), join(tree, 'usr/lib')].flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.includes('-linux-'))
      .map((name) => join(folder, name)),
  )
  // Installed, a program of Debian's names this folder for its own libraries by its full path.
  const libraries = kinds.flatMap((folder) => [folder, join(folder, 'pulseaudio')])
  return {
    LD_LIBRARY_PATH: libraries.filter((folder) => existsSync(folder)).join(':'),
    FONTCONFIG_FILE: join(unpackedFonts, 'fonts.conf'),
  }
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const source = join(import.meta.dirname, '../../packages/web/src/pages/pages.tsx')

/**
 * The addresses of the console as its pages are declared, "/databases/:ref" and so on: a new page is among
 * them.
 */
export function consoleRoutes(): readonly string[] {
  const found = [...readFileSync(source, 'utf8').matchAll(/<Route path="([^"]+)"/g)]
  return found.map(([, path = '']) => path)
}

/**
 * One address for each route. `values` are by the word before: { databases: 'orders' } for "/databases/:ref".
 * Throws when one is missing.
 */
export function addressesOf(
  routes: readonly string[],
  values: Readonly<Record<string, string>>,
): readonly string[] {
  return routes.map((route) =>
    route.replaceAll(/([^/]+)\/:[^/]+/g, (_, word: string) => {
      const value = values[word]
      if (value === undefined)
        throw new Error(`there is a new page, ${route}: say what stands after ${word}/`)
      return `${word}/${value}`
    }),
  )
}

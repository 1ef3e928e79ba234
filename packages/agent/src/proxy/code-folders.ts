import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * What a program of Node loads from: its own package, the folders of packages above it, and those that are linked from there, as
 * packages of one repository are.
 */
export function codeFolders(main: string): readonly string[] {
  const found = new Set<string>()
  const add = (folder: string) => {
    if (found.has(folder)) return
    found.add(folder)
    const above = foldersAbove(folder)
      .map((each) => join(each, 'node_modules'))
      .filter(isFolder)
    for (const each of above) found.add(each)
    for (const name of dependenciesOf(folder)) {
      const place = above.map((each) => join(each, name)).find((each) => existsSync(each))
      if (place !== undefined && lstatSync(place).isSymbolicLink()) add(realpathSync(place))
    }
  }
  const real = realpathSync(main)
  add(foldersAbove(dirname(real)).find((each) => existsSync(join(each, 'package.json'))) ?? dirname(real))
  return [...found]
}

/** The folder itself, and all that it lies in, the nearest first. */
function foldersAbove(folder: string): readonly string[] {
  return folder === dirname(folder) ? [folder] : [folder, ...foldersAbove(dirname(folder))]
}

function dependenciesOf(folder: string): readonly string[] {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return []
  const { dependencies = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>
  }
  return Object.keys(dependencies)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

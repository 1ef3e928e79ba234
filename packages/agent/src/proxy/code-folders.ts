import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Returns the folders that a Node program loads from: its package, those of packages above it, and linked
 * ones, like the packages of one repository.
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

/** Returns the folder and its ancestors, the nearest first. */
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

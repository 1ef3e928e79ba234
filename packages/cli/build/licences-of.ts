import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The licences of the libraries that have `files` (paths below `root`), one after the other. Throws if a
 * library has no file with its licence.
 */
export function licencesOf(root: string, files: readonly string[]): string {
  const folders = new Set(
    files.filter((file) => file.includes('node_modules/')).map((file) => folderOf(root, file)),
  )
  return [...folders]
    .toSorted()
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
      if (licence === undefined) throw new Error(`${name} has no file with its licence`)
      return `${name} ${version}\n\n${readFileSync(join(folder, licence), 'utf8').trim()}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** The package that has a file: the nearest folder with a package.json that has a name. */
function folderOf(root: string, file: string): string {
  let folder = dirname(join(root, file))
  while (!isPackage(folder)) folder = dirname(folder)
  return folder
}

function isPackage(folder: string): boolean {
  const about = join(folder, 'package.json')
  return existsSync(about) && JSON.parse(readFileSync(about, 'utf8')).name !== undefined
}

import { profiles } from '../../proof/profiles.ts'
import { planFiles } from './plan-files.ts'
import type { Asked } from './read-arguments.ts'

/** The profiles, and the files that a run would have. */
export function printList(root: string, asked: Asked): string {
  const width = Math.max(...Object.keys(profiles).map(({ length }) => length))
  const lines = Object.entries(profiles).map(
    ([name, { what, minutes }]) => `  ${name.padEnd(width)}  ${`${minutes}`.padStart(3)} min  ${what}`,
  )
  const files = planFiles(root, asked)
  return `profiles:\n${lines.join('\n')}\n\n${files.length} files:\n${files.map((file) => `  ${file}\n`).join('')}`
}

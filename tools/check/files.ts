import { basename } from 'node:path'
import { rule } from './rule.ts'
import { everything, files, product, read } from './tree.ts'

const drawers = /^(utils?|helpers?|types|common)$/

/** What holds for every file of code. */
export const everyFile = [
  rule('the environment is read in config.ts, and in start.ts of the command line, only', () =>
    product
      .filter((file) => basename(file) !== 'config.ts' && file !== 'packages/cli/src/start.ts')
      .filter((file) => /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(read(file))),
  ),

  rule('nothing is exported by default, and nothing re-exported but by the index.ts of a package', () =>
    files.filter((file) => {
      const code = read(file)
      if (/^export default\b/m.test(code)) return true
      return (
        !/^(packages\/[^/]+|ledger)\/src\/(index|lean|of-proxies|[a-z]+-entry)\.ts$/.test(file) &&
        /^export\b[^=;(]*\bfrom '/m.test(code)
      )
    }),
  ),

  rule('a file has at most 400 lines; 500 if it is a test', () =>
    everything
      .map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }))
      .filter(({ file, lines }) => lines > (file.endsWith('.test.ts') ? 500 : 400))
      .map(({ file, lines }) => `${file}: ${lines} lines`),
  ),

  rule('no object is spread into another only to put several fields on one line', () =>
    everything.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, at) => (/^\s*\.\.\.\{ /.test(line) ? [`${file}:${at + 1}`] : [])),
    ),
  ),

  rule('a comment has at most 110 columns', () =>
    product.flatMap((file) =>
      read(file)
        .split('\n')
        .flatMap((line, at) =>
          /^\s*(\/\/|\/?\*)/.test(line) && line.length > 110 ? [`${file}:${at + 1}`] : [],
        ),
    ),
  ),

  rule('no file is a drawer: none, and no folder, is called utils, helpers, types or common', () => {
    const parts = (file: string) => file.split('/').map((part) => part.replace(/\..*$/, ''))
    return everything.filter((file) => parts(file).some((part) => drawers.test(part)))
  }),

  rule('a file is named in kebab-case', () =>
    everything.filter((file) => !/^[a-z0-9]+([-.][a-z0-9]+)*$/.test(basename(file))),
  ),
]

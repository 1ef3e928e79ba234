import { operations } from '@fairlead/api'
import type { Plugin } from 'esbuild'

/**
 * Puts the table of operations into the console as its client reads it: method, path and kind, without
 * schemas and words. With them it would be several times as large.
 */
export function onlyWhatClientsNeed(): Plugin {
  return {
    name: 'only what clients need',
    setup(build) {
      build.onLoad({ filter: /packages\/api\/src\/operations\/operations\.ts$/ }, () => ({
        contents: `export const operations = ${JSON.stringify(tableOf())}`,
        loader: 'js',
      }))
    },
  }
}

function tableOf() {
  return Object.fromEntries(
    Object.entries(operations).map(([name, op]) => {
      const { method, path } = op
      const kinds = {
        ...('body' in op && { body: true }),
        ...('upload' in op && { upload: op.upload }),
        ...('planned' in op && { planned: true }),
        ...('paged' in op && { paged: true }),
        ...('stream' in op && { stream: true }),
      }
      return [name, { method, path, ...kinds }]
    }),
  )
}

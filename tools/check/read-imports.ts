/**
 * One import (or re-export) of a source text. `values` are the names that exist at run time; `*` is all of
 * them.
 */
export interface Import {
  readonly from: string
  readonly names: readonly string[]
  readonly values: readonly string[]
  readonly typeOnly: boolean
}

const clause =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?((?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?)\s*from\s+'([^']+)'/g
const bare = /(?:^|\n)\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'/g

/** The imports of a TypeScript text in this house's style: one statement a line or more, single quotes. */
export function importsOf(text: string): readonly Import[] {
  const code = withoutComments(text)
  const named = [...code.matchAll(clause)].map(([, type, what = '', from = '']): Import => {
    const parts = what
      .replace(/[{}]/g, ' ')
      .split(',')
      .map((part) => part.trim())
    const all = parts.filter((part) => part !== '')
    const values = type ? [] : all.filter((part) => !part.startsWith('type ')).map(nameOf)
    return { from, names: all.map(nameOf), values, typeOnly: values.length === 0 }
  })
  const whole = [...code.matchAll(bare)].map(([, first, second]): Import => {
    return { from: first ?? second ?? '', names: ['*'], values: ['*'], typeOnly: false }
  })
  return [...named, ...whole]
}

/** The text without comments and without the words inside strings; `${…}` of templates stays. */
export function codeOf(text: string): string {
  return text.replace(pieces, (piece) => {
    if (piece.startsWith('/')) return ' '
    if (!piece.startsWith('`')) return "''"
    return [...piece.matchAll(/\$\{([^}]*)\}/g)].map(([, inner = '']) => codeOf(inner)).join(' ')
  })
}

const pieces = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

function withoutComments(text: string): string {
  return text.replace(pieces, (piece) => (piece.startsWith('/') ? ' ' : piece))
}

/** "type Foo as Bar" → "Foo". */
function nameOf(part: string): string {
  return part.replace(/^type\s+/, '').split(/\s+as\s+/)[0] ?? ''
}

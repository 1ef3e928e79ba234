import { widthOf } from './draw-table.ts'
import type { Terminal } from './terminal.ts'

/** Wraps lines at words to a terminal's width. Elsewhere lines are unchanged, for programs. */
export function folded(
  { outIsTerminal, columns }: Pick<Terminal, 'outIsTerminal' | 'columns'>,
  text: string,
) {
  return outIsTerminal ? foldText(text, columns()) : text
}

/** Wraps lines to `columns` without breaking words. The rest is indented below its title. */
export function foldText(text: string, columns: number): string {
  return text.replaceAll(/^.+$/gm, (line) => (widthOf(line) <= columns ? line : foldLine(line, columns)))
}

/** A title, like in a plan. */
const title = /^ {2}(?=\S[\w ]{9} {2}\S).{12}/
/** A gap between commands, which get separate lines. */
const gap = / {4,}(?=\S)/

function foldLine(line: string, columns: number): string {
  const [head = ''] = title.exec(line) ?? []
  if (head !== '' && !gap.test(line.slice(head.length)))
    return foldWords(line.slice(head.length), { first: head, next: ' '.repeat(head.length), columns })
  const [first = ''] = /^ */.exec(line) ?? []
  return line
    .slice(first.length)
    .split(gap)
    .map((part) => foldWords(part, { first, next: `${first}    `, columns }))
    .join('\n')
}

/** Wraps words; the first line starts with `first`, the others with `next`. */
export function foldWords(
  text: string,
  { first, next, columns }: { readonly first: string; readonly next: string; readonly columns: number },
): string {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const word of text.split(' ')) {
    if (!isEmpty && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line.trimEnd())
      line = next
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line].join('\n')
}

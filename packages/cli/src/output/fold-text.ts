import { widthOf } from './draw-table.ts'
import type { Terminal } from './terminal.ts'

/** Lines for people, none wider than the terminal: a longer one goes on below, at a word. Elsewhere lines are left as they are: programs read them. */
export function folded(
  { outIsTerminal, columns }: Pick<Terminal, 'outIsTerminal' | 'columns'>,
  text: string,
) {
  return outIsTerminal ? foldText(text, columns()) : text
}

/** Lines in at most so many columns. What follows stands under its title, or a little to the right. A word is not broken. */
export function foldText(text: string, columns: number): string {
  return text.replaceAll(/^.+$/gm, (line) => (widthOf(line) <= columns ? line : foldLine(line, columns)))
}

/** Of lines with a title, as those of a plan. */
const title = /^ {2}(?=\S[\w ]{9} {2}\S).{12}/
/** Between commands, each of which is better read on a line of its own. */
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

/** Words, each after a space; the lines begin with `first`, and with `next` from the second on. */
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

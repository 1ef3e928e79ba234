/** Columns of prose in a printed page. */
const WIDTH = 110

/** Never broken: code, links, and everything else without a space. */
const piece = /(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|[^\s`[]|\[(?![^\]]*\]\())+/g
/** Left alone: tables, headings, comments, pictures, empty lines. */
const fixed = /^\s*(\||#|<!--|!\[|$)/

interface Paragraph {
  readonly first: string
  readonly rest: string
  text: string
}

/** Wraps the prose of a Markdown page, list items included; leaves code, tables and headings unchanged. */
export function wrapPage(page: string): string {
  const lines: string[] = []
  let paragraph: Paragraph | undefined
  let isCode = false
  const flush = () => {
    if (paragraph !== undefined) lines.push(...fill(paragraph))
    paragraph = undefined
  }
  for (const line of page.split('\n')) {
    const isFence = line.trimStart().startsWith('```')
    const [mark] = /^\s*([-*]|\d+\.) /.exec(line) ?? []
    if (isFence || isCode || fixed.test(line)) {
      flush()
      lines.push(line)
      isCode = isCode !== isFence
    } else if (mark !== undefined) {
      flush()
      paragraph = { first: mark, rest: ' '.repeat(mark.length), text: line.slice(mark.length) }
    } else if (paragraph === undefined) paragraph = { first: '', rest: '', text: line }
    else paragraph.text += ` ${line}`
  }
  flush()
  return lines.join('\n')
}

function fill({ first, rest, text }: Paragraph): readonly string[] {
  const [start = '', ...others] = text.match(piece) ?? []
  const lines = [`${first}${start}`]
  for (const word of others) {
    const longer = `${lines.at(-1)} ${word}`
    // A line that began with one of these would be a list or a heading.
    if (longer.length <= WIDTH || /^([-+*#]+|\d+\.)$/.test(word)) lines[lines.length - 1] = longer
    else lines.push(`${rest}${word}`)
  }
  return lines
}

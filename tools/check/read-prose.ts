const pieces = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g

/**
 * What people read in a TypeScript or JavaScript text: its comments, and its strings of at least three words.
 */
export function proseOfCode(text: string): readonly string[] {
  // Comment lines that follow each other are one text.
  const joined = text.replaceAll(/(?<=^\s*\/\/[^\n]*)\n\s*\/\/ /gm, ' ')
  return (joined.match(pieces) ?? [])
    .map((piece) => (piece.startsWith('/') ? commentIn(piece) : sentenceIn(piece)))
    .filter((prose) => prose !== '')
}

/** The paragraphs and table rows of a Markdown text, without code. */
export function proseOfPage(text: string): readonly string[] {
  return text
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .split(/\n\n|\n(?=\||#|\s*- |\d+\. )/)
    .map((paragraph) => withoutCode(paragraph).replaceAll(/\s+/g, ' ').trim())
}

function commentIn(piece: string): string {
  const lines = piece.replaceAll(/^\/\*\*?|\*\/$|^\/\//g, '').replaceAll(/\n\s*\* ?/g, ' ')
  return withoutCode(lines).replaceAll(/\s+/g, ' ').trim()
}

function sentenceIn(piece: string): string {
  const words = piece.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, '…')
  return words.trim().split(/\s+/).length < 3 ? '' : words
}

function withoutCode(text: string): string {
  return text.replaceAll(/`[^`\n]*`/g, '…')
}

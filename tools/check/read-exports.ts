/** One export that a file declares itself. `documented`: a doc comment ends on the line above it. */
export interface Export {
  readonly name: string
  readonly documented: boolean
}

const declaration =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|interface|type|class) ([\w$]+)/gm

/**
 * The exports of a TypeScript text in this house's style: one declaration each, at the start of a line.
 * Re-exports are not among them.
 */
export function exportsOf(text: string): readonly Export[] {
  return [...text.matchAll(declaration)].map(({ 1: name = '', index }) => {
    const above = text.slice(0, index)
    const comment = above.endsWith('*/\n') ? above.slice(above.lastIndexOf('\n/*') + 1) : ''
    return { name, documented: comment.startsWith('/**') }
  })
}

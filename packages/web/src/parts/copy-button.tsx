import { useState } from 'react'
import { Glyph } from './glyph.tsx'

/** Copies a text, and confirms it. Explains a refusal of the browser: plain HTTP to another machine. */
export function CopyButton({
  text,
  label,
  shortcut,
}: {
  readonly text: string | (() => string)
  readonly label: string
  /** The shortcut. */
  readonly shortcut?: string
}) {
  const [said, say] = useState<string | null>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text())
      say('Copied')
    } catch {
      say('The browser does not allow it')
    }
    setTimeout(() => say(null), 2_000)
  }
  return (
    <button type="button" className="button button-quiet" data-key={shortcut} onClick={() => void copy()}>
      <Glyph name={said === 'Copied' ? 'done' : 'copy'} />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}

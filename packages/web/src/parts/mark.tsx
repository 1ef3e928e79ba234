import type { Mark } from '../words/describe-action.ts'
import { Glyph } from './glyph.tsx'

/** A state: shape, hue and word. */
export function MarkView({ mark }: { readonly mark: Mark }) {
  return (
    <span className="mark" data-tone={mark.tone} data-sign={mark.sign}>
      <Glyph name={mark.sign} />
      {mark.label}
    </span>
  )
}

import type { Sign } from '../words/describe-action.ts'

/** All shapes, on a grid of 16, in the colour of the text. */
const shapes = {
  active: <circle cx="8" cy="8" r="4.5" fill="currentColor" stroke="none" />,
  changing: (
    <>
      <circle cx="8" cy="8" r="5" />
      <path d="M8 3a5 5 0 0 1 0 10z" fill="currentColor" stroke="none" />
    </>
  ),
  queued: <circle cx="8" cy="8" r="5" strokeDasharray="2.6 2" />,
  planned: <circle cx="8" cy="8" r="3.5" />,
  waits: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 5v3l2 1.6" />
    </>
  ),
  go: <path d="M5 3.2v9.6L12.8 8z" fill="currentColor" />,
  paused: <path d="M5.5 4v8M10.5 4v8" strokeWidth="2.4" />,
  stuck: (
    <>
      <path d="M8 2.5 14 13H2z" fill="currentColor" />
      <path d="M8 6.5v3M8 11.2v.3" className="glyph-hole" />
    </>
  ),
  failed: <path d="m4 4 8 8M12 4l-8 8" strokeWidth="2" />,
  back: <path d="M6 3 3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H6" />,
  done: <path d="m3 8.5 3.2 3.2L13 4.8" strokeWidth="2" />,
  diamond: <path d="m8 2.5 5.5 5.5L8 13.5 2.5 8z" fill="currentColor" stroke="none" />,
  'diamond-open': <path d="m8 2.5 5.5 5.5L8 13.5 2.5 8z" />,
  home: <path d="M2.5 7.5 8 3l5.5 4.5M4 7v6h8V7" />,
  database: (
    <>
      <ellipse cx="8" cy="4" rx="5" ry="2" />
      <path d="M3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2" />
    </>
  ),
  action: <path d="M2 8h3l2-5 2.5 10L12 8h2" />,
  node: (
    <>
      <rect x="2.5" y="3" width="11" height="4" rx="1" />
      <rect x="2.5" y="9" width="11" height="4" rx="1" />
      <path d="M5 5h.1M5 11h.1" />
    </>
  ),
  build: <path d="M8 2 13.5 5v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6" />,
  module: <path d="M3 3h4v4H3zM9 9h4v4H9zM9 3h4v4H9zM3 9h4v4H3z" />,
  access: (
    <>
      <circle cx="8" cy="5.5" r="2.5" />
      <path d="M3 13.5c.6-2.7 2.6-4 5-4s4.4 1.3 5 4" />
    </>
  ),
  audit: <path d="M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2.5" />,
  cluster: (
    <path d="M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM2.5 8h11M8 2.5c2 1.5 2.5 3.5 2.5 5.5S10 12 8 13.5M8 2.5C6 4 5.5 6 5.5 8S6 12 8 13.5" />
  ),
  more: <path d="M3.5 8h.1M8 8h.1M12.5 8h.1" strokeWidth="2.4" />,
  copy: <path d="M5.5 5.5h7v8h-7zM10 5.5V2.5H3v8h2.5" />,
} as const satisfies Readonly<Record<Sign | string, React.ReactNode>>
/** The name of a shape. */
export type GlyphName = keyof typeof shapes

/** A shape next to its word, so it is hidden from screen readers. */
export function Glyph({ name }: { readonly name: GlyphName }) {
  return (
    <svg
      className="glyph"
      viewBox="0 0 16 16"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {shapes[name]}
    </svg>
  )
}

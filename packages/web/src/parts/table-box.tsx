import type { ReactNode } from 'react'

/** Around a table that may be wider than the page: it scrolls by itself, with keys too. */
export function TableBox({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section className="table-box" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}

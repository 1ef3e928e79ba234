import { type ReactNode, useLayoutEffect, useRef } from 'react'

/** Visible height of an answer, in pixels: its first sentences. */
const SEEN_PX = 240

/** A dry run's answer. Takes the focus, and scrolls into view. `of` differs for each answer; null: none. */
export function DryRunAnswer({ of, children }: { readonly of: unknown; readonly children: ReactNode }) {
  const answer = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const element = answer.current
    if (of === null || element === null) return
    element.focus({ preventScroll: true })
    const { top } = element.getBoundingClientRect()
    if (top < 0 || top + SEEN_PX > innerHeight) element.scrollIntoView()
  }, [of])
  return (
    <section ref={answer} className="answer" aria-label="Answer of the dry run" tabIndex={-1}>
      {children}
    </section>
  )
}

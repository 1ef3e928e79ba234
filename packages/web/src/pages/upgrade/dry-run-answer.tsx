import { type ReactNode, useLayoutEffect, useRef } from 'react'

/** So much of an answer is to be seen, in pixels: its first sentences. */
const SEEN_PX = 240

/** What a dry run has answered. It takes the focus, and the page goes to where its first sentences are seen. `of` is another one with each answer; null: there is none. */
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

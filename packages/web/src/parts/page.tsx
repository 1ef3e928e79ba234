import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { useFavicon } from '../live/favicon.ts'
import { useClusterName } from '../live/use-cluster-name.ts'
import type { Mark } from '../words/describe-action.ts'

interface PageProps {
  /** Heading, and title of the tab. */
  readonly title: string
  /** The phase, shown as a sign before the tab's title and as its icon. */
  readonly mark?: Mark
  readonly above?: { readonly to: string; readonly label: string }
  /** Next to the heading. */
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

const signs = { busy: '◐', ok: '✓', wait: '◷', bad: '▲', quiet: '○' } as const

/** A page: heading, additions, content. The heading takes the focus, so that screen readers begin there. */
export function Page({ title, mark, above, beside, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const tone = mark?.tone
  // An open window is well, and not the end.
  const sign = mark?.sign === 'waits' ? signs.wait : tone && signs[tone]
  const cluster = useClusterName()
  useEffect(() => {
    document.title = `${sign === undefined ? '' : `${sign} `}${title} · ${cluster} · Fairlead`
  }, [title, sign, cluster])
  useFavicon(tone)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  return (
    <main className="page">
      <header className="page-head">
        <div>
          {above !== undefined && (
            <nav aria-label="Breadcrumb" className="crumbs">
              <Link href={above.to}>{above.label}</Link>
              <span aria-hidden="true">/</span>
            </nav>
          )}
          <div className="page-title">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {beside}
          </div>
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </main>
  )
}

/** A part of a page with a frame. */
export function Card(props: {
  readonly title?: string
  readonly beside?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}) {
  return (
    <section className={`card ${props.className ?? ''}`}>
      {props.title !== undefined && (
        <div className="card-head">
          <h2>{props.title}</h2>
          {props.beside}
        </div>
      )}
      {props.children}
    </section>
  )
}

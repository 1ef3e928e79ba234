import { type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'

interface PageProps {
  /** The heading, which is also the title of the tab. */
  readonly title: string
  /** Before the title of the tab: a sign of the phase. */
  readonly sign?: string
  readonly above?: { readonly to: string; readonly label: string }
  /** Beside the heading. */
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** One page: heading, what is beside it, and the content. The heading takes the focus, so that screen readers begin there. */
export function Page({ title, sign, above, beside, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${sign === undefined ? '' : `${sign} `}${title} · Fairlead`
  }, [title, sign])
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

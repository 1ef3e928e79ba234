import { Link } from 'wouter'
import { useIsStale } from '../live/live-state.ts'

/** A link to a page whose order needs the server. It looks off, and is, while the server is out of sight. */
export function ButtonLink({ to, children }: { readonly to: string; readonly children: string }) {
  const look = 'button button-main'
  if (!useIsStale())
    return (
      <Link href={to} className={look}>
        {children}
      </Link>
    )
  return (
    <button type="button" className={look} disabled title="The console cannot see the server">
      {children}
    </button>
  )
}

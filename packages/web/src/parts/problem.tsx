import { ApiError, type ErrorObstacle } from '@fairlead/api'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useIsStale } from '../live/live-state.ts'

/**
 * The server's refusal word for word, with each obstacle. Of a sign-in or a missing permission, the sentence
 * is enough: a code adds nothing, and another try has the same answer.
 */
export function Problem({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const refusal = error instanceof ApiError ? error : null
  const isPlain = refusal?.status === 401 || refusal?.status === 403
  return (
    <div className="problem" role="alert" data-code={refusal?.code}>
      {refusal !== null && refusal.obstacles.length > 0 ? (
        <Obstacles obstacles={refusal.obstacles} />
      ) : (
        <p>
          {refusal?.message ?? 'The server did not answer.'}
          {refusal !== null && !isPlain && (
            <>
              {' '}
              <code>{refusal.code}</code>
            </>
          )}
        </p>
      )}
      {retry !== undefined && !isPlain && (
        <button type="button" className="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** All obstacles with their codes. */
export function Obstacles({ obstacles }: { readonly obstacles: readonly ErrorObstacle[] }) {
  return (
    <ul className="obstacles">
      {obstacles.map(({ error_code, message }) => (
        <li key={`${error_code} ${message}`}>
          {message} <code>{error_code}</code>
        </li>
      ))}
    </ul>
  )
}

/** Shows an answer's content once it is there, and keeps it when a later query fails or nothing answers. */
export function Answer<T>(props: {
  readonly of: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  /** Expected height in pixels, so that nothing moves. */
  readonly height?: number
  readonly children: (data: T) => ReactNode
}) {
  const { data, error, refetch } = props.of
  const isStale = useIsStale()
  if (data !== undefined) return props.children(data)
  // Each try begins anew: it would be loading for as long as the server is away.
  if (isStale) return <p className="muted">Not known: the console cannot see the server</p>
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  return <div className="skeleton" aria-hidden="true" style={{ minHeight: props.height ?? 120 }} />
}

/** An empty list, with advice. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  )
}

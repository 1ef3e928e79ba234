import { ApiError, type ErrorObstacle } from '@fairlead/api'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'

/** The server's refusal word for word, with each obstacle. */
export function Problem({ error, retry }: { readonly error: Error; readonly retry?: () => void }) {
  const isOurs = error instanceof ApiError
  const obstacles = isOurs ? error.obstacles : []
  return (
    <div className="problem" role="alert">
      {obstacles.length > 0 ? (
        <Obstacles obstacles={obstacles} />
      ) : (
        <p>
          {isOurs ? error.message : 'The server did not answer.'} {isOurs && <code>{error.code}</code>}
        </p>
      )}
      {retry !== undefined && (
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

/** Shows an answer's content once it is there, and keeps it when a later query fails. */
export function Answer<T>(props: {
  readonly of: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  /** Expected height in pixels, so that nothing moves. */
  readonly height?: number
  readonly children: (data: T) => ReactNode
}) {
  const { data, error, refetch } = props.of
  if (data !== undefined) return props.children(data)
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

import { ApiError, type ErrorObstacle } from '@fairlead/api'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'

/** What the server said against it, word for word, each obstacle by itself. */
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

/** Everything that is in the way, with its code. */
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

/** What an answer shows: the content as soon as there is some, and it stays when a later question fails. */
export function Answer<T>(props: {
  readonly of: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  /** The height that the content will have, in pixels, so that nothing moves. */
  readonly height?: number
  readonly children: (data: T) => ReactNode
}) {
  const { data, error, refetch } = props.of
  if (data !== undefined) return props.children(data)
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  return <div className="skeleton" aria-hidden="true" style={{ minHeight: props.height ?? 120 }} />
}

/** Nothing is there: what it is, and what one can do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  )
}

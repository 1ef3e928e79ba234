interface PagerProps {
  /** Place of the first shown entry, from 0. */
  readonly first: number
  readonly count: number
  readonly size: number
  readonly go: (page: number) => void
}

/** Switches pages of a list; nothing if there is only one. */
export function Pager({ first, count, size, go }: PagerProps) {
  const page = first / size
  if (first === 0 && count < size) return null
  return (
    <nav className="pager" aria-label="Pages of the list">
      <button type="button" className="button" disabled={page === 0} onClick={() => go(page - 1)}>
        Previous
      </button>
      <span className="muted">
        {first + 1}–{first + count}
      </span>
      <button type="button" className="button" disabled={count < size} onClick={() => go(page + 1)}>
        Next
      </button>
    </nav>
  )
}

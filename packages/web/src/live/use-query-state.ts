import { useSearchParams } from 'wouter'

/** A filter in the address; empty: unset. Back leads to the previous page of a list, and past typed text. */
export function useQueryState(name: string): readonly [string, (value: string) => void] {
  const [params, setParams] = useSearchParams()
  const set = (value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(name)
        else next.set(name, value)
        if (name !== 'page') next.delete('page')
        return next
      },
      { replace: name !== 'page' },
    )
  return [params.get(name) ?? '', set]
}

/**
 * Returns the index of the first entry on the page in the address (`?page=`, from 0), and a function to go to
 * another page.
 */
export function usePage(size: number): { readonly first: number; readonly go: (page: number) => void } {
  const [page, setPage] = useQueryState('page')
  return {
    first: Math.max(Math.trunc(Number(page)) || 0, 0) * size,
    go: (to) => setPage(to === 0 ? '' : String(to)),
  }
}

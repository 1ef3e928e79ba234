import { useQueryState } from './use-query-state.ts'

/** The page of a list in the address: the place of its first entry, and a function to change pages. */
export function usePage(size: number): { readonly first: number; readonly go: (page: number) => void } {
  const [page, setPage] = useQueryState('page')
  return {
    first: Math.max(Math.trunc(Number(page)) || 0, 0) * size,
    go: (to) => setPage(to === 0 ? '' : String(to)),
  }
}

import { useQueryState } from './use-query-state.ts'

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

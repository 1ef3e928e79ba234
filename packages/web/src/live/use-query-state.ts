import { useSearchParams } from 'wouter'

/** A filter that is kept in the address; empty: it is not set. Back leads to the page of a list before this one, and past all that was typed. */
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

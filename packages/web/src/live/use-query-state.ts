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

import { expect } from 'vitest'
import type { Answer, TestControlPlane } from './control-plane.ts'

/** What lists of a server have, whole and page by page. `keyOf` says what an entry is known by. */
export function readLists<Key>(
  { send }: Pick<TestControlPlane, 'send'>,
  keyOf: (body: Answer['body']) => readonly Key[],
) {
  /** The entries of one answer, and the cursor of the next page. */
  const ask = async (path: string, auth: string) => {
    const { status, body, headers } = await send('GET', path, { auth })
    expect([path, status]).toEqual([path, 200])
    return { keys: keyOf(body), next: headers.get('x-next-cursor') }
  }
  return {
    ask,
    /** Reads a list by pages of `limit`; each has at most `most` entries. Its path has a query. */
    async byPages(path: string, limit: number, auth: string, most = limit) {
      const seen: Key[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { keys, next } = await ask(`${path}&limit=${limit}${cursor && `&cursor=${cursor}`}`, auth)
        expect(keys.length).toBeLessThanOrEqual(most)
        seen.push(...keys)
        cursor = next
      }
      return seen
    },
  }
}

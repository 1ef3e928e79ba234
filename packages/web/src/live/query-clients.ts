import { ApiError } from '@fairlead/api'
import { MutationCache, QueryClient } from '@tanstack/react-query'
import { keys } from './keys.ts'

/** Holds only the signed-in user. */
export const session = new QueryClient({ defaultOptions: { queries: { refetchOnWindowFocus: 'always' } } })

/** Reads the signed-in user again. The page stays if it is the same. */
export function askForSelf(): void {
  void session.invalidateQueries({ queryKey: keys.self })
}

/** The browser's other tabs, which have the same cookie. `in`: any user signed in. */
const tabs = new BroadcastChannel('fairlead-session')
tabs.onmessage = ({ data }: MessageEvent<'in' | 'out'>) => takeNews(data)

function takeNews(news: 'in' | 'out'): void {
  if (news === 'in') askForSelf()
  // Forgets the user and all its data.
  else void session.resetQueries({ queryKey: keys.self })
}

/** Reports a sign-in or sign-out to the other tabs, too. */
export function tellSession(news: 'in' | 'out'): void {
  tabs.postMessage(news)
  takeNews(news)
}

/** The data of one user. Each user has a separate client, so that nothing remains of another. */
export function createUserClient(): QueryClient {
  const onError = (error: Error | null) => {
    if (isSignedOut(error)) askForSelf()
  }
  const client = new QueryClient({
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { retry: retryUnlessRefused, staleTime: 5_000, refetchOnWindowFocus: 'always' },
      mutations: { retry: false },
    },
  })
  client.getQueryCache().subscribe(({ query, type }) => {
    if (type !== 'updated') return
    const { error, data } = query.state
    onError(error)
    // A role was removed: hidden data must not stay.
    if (data === undefined || !(error instanceof ApiError) || error.status !== 403) return
    askForSelf()
    void client.resetQueries({ queryKey: query.queryKey, exact: true })
  })
  return client
}

/** Returns whether the error means that no user is signed in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** Retries missing answers, not refusals. */
export function retryUnlessRefused(failures: number, cause: Error): boolean {
  return !(cause instanceof ApiError && cause.status < 500) && failures < 3
}

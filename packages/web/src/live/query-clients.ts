import { ApiError } from '@fairlead/api'
import { MutationCache, QueryClient } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { hearTabs, tellTabs } from './session-news.ts'

/** Holds which user is signed in, and nothing else. */
export const session = new QueryClient({ defaultOptions: { queries: { refetchOnWindowFocus: 'always' } } })

/** Asks again which user is signed in: the page stays as it is, if it is the same. */
export function askForSelf(): void {
  void session.invalidateQueries({ queryKey: keys.self })
}

/** Forgets the user, and with it all that its pages know. */
export function forgetSelf(): void {
  void session.resetQueries({ queryKey: keys.self })
}

hearTabs((news) => (news === 'in' ? askForSelf() : forgetSelf()))

/** Here a user has signed in or out: the other tabs have the same cookie. */
export function tellSession(news: 'in' | 'out'): void {
  tellTabs(news)
  if (news === 'in') askForSelf()
  else forgetSelf()
}

/** What the pages of one user know. Another user gets another one, so that nothing of the first is left. */
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
    // A role was taken away: what may not be seen any more must not stay.
    if (data === undefined || !(error instanceof ApiError) || error.status !== 403) return
    askForSelf()
    void client.resetQueries({ queryKey: query.queryKey, exact: true })
  })
  return client
}

/** Whether an answer says that no user is signed in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401
}

/** A refusal stays one; what did not answer is asked again. */
export function retryUnlessRefused(failures: number, cause: Error): boolean {
  return !(cause instanceof ApiError && cause.status < 500) && failures < 3
}

import { ApiError } from '@fairlead/api'
import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { followCluster } from './live/follow-cluster.ts'
import { keys } from './live/keys.ts'
import { SelfContext } from './live/permissions.ts'
import { retryUnlessRefused, useSelf } from './live/queries.ts'
import { createEventTaker } from './live/take-event.ts'
import { restoreTheme } from './live/theme.ts'
import { Login } from './pages/login.tsx'
import { Pages } from './pages/pages.tsx'
import { Problem } from './parts/problem.tsx'
import { Shell } from './parts/shell.tsx'

/** A session that ended: the page stays as it is below the sign-in, and goes on afterwards. A wrong password is none: the sign-in would begin anew. */
const askForSelf = (error: Error | null) => {
  const wasSignedIn = client.getQueryData(keys.self) !== undefined
  if (wasSignedIn && isSignedOut(error)) void client.invalidateQueries({ queryKey: keys.self })
}
const client: QueryClient = new QueryClient({
  mutationCache: new MutationCache({ onError: askForSelf }),
  defaultOptions: {
    queries: { retry: retryUnlessRefused, staleTime: 5_000, refetchOnWindowFocus: 'always' },
    mutations: { retry: false },
  },
})
client.getQueryCache().subscribe(({ query, type }) => {
  if (type === 'updated' && query.queryKey[0] !== keys.self[0]) askForSelf(query.state.error)
})

function Root() {
  const { data: self, error, refetch } = useSelf()
  const signedOut = isSignedOut(error)
  const uid = signedOut ? undefined : self?.uid
  useEffect(() => {
    if (uid === undefined) return
    const stop = new AbortController()
    const ask = () => void client.invalidateQueries({ queryKey: keys.self })
    followCluster(createEventTaker(client), ask, stop.signal)
    return () => stop.abort()
  }, [uid])
  if (self === undefined && !signedOut)
    return error === null ? null : <Problem error={error} retry={() => void refetch()} />
  return (
    <>
      {self !== undefined && (
        <SelfContext value={self}>
          <div inert={signedOut}>
            <Shell>
              <Pages />
            </Shell>
          </div>
        </SelfContext>
      )}
      {signedOut && <Login isBack={self !== undefined} onDone={() => void client.invalidateQueries()} />}
    </>
  )
}

function isSignedOut(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 401
}

restoreTheme()
const root = document.getElementById('root')
if (root !== null)
  createRoot(root).render(
    <QueryClientProvider client={client}>
      <Root />
    </QueryClientProvider>,
  )

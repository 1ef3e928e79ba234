import type { Self } from '@fairlead/api'
import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { followCluster } from './live/follow-cluster.ts'
import { EndedContext, SelfContext } from './live/permissions.ts'
import { useSelf } from './live/queries.ts'
import { askForSelf, createUserClient, isSignedOut, session, tellSession } from './live/query-clients.ts'
import { createEventTaker } from './live/take-event.ts'
import { restoreTheme } from './live/theme.ts'
import { Login } from './pages/login.tsx'
import { Pages } from './pages/pages.tsx'
import { Problem } from './parts/problem.tsx'
import { Shell } from './parts/shell.tsx'

function Root() {
  const { data: self, error, refetch } = useSelf()
  const isEnded = isSignedOut(error)
  if (self === undefined && !isEnded)
    return error === null ? null : <Problem error={error} retry={() => void refetch()} />
  return (
    <>
      {self !== undefined && <SignedIn key={self.uid} self={self} isEnded={isEnded} />}
      {isEnded && <Login isBack={self !== undefined} onDone={() => tellSession('in')} />}
    </>
  )
}

/** The pages of one user. After the session's end they stay hidden below the sign-in, then continue. */
function SignedIn({ self, isEnded }: { readonly self: Self; readonly isEnded: boolean }) {
  const [client] = useState(createUserClient)
  const { uid } = self
  useEffect(() => {
    if (isEnded) return () => void client.invalidateQueries()
    const stop = new AbortController()
    followCluster(uid, createEventTaker(client), askForSelf, stop.signal)
    return () => stop.abort()
  }, [client, uid, isEnded])
  return (
    <QueryClientProvider client={client}>
      <SelfContext value={self}>
        <EndedContext value={isEnded}>
          <div hidden={isEnded}>
            <Shell>
              <Pages />
            </Shell>
          </div>
        </EndedContext>
      </SelfContext>
    </QueryClientProvider>
  )
}

restoreTheme()
const root = document.getElementById('root')
if (root !== null)
  createRoot(root).render(
    <QueryClientProvider client={session}>
      <Root />
    </QueryClientProvider>,
  )

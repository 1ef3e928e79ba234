import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { keys } from '../live/keys.ts'
import { shards, stories, traces } from './stories.tsx'

// Nothing is asked: what the components know is here.
const client = new QueryClient({ defaultOptions: { queries: { enabled: false } } })
for (const [uid, all] of Object.entries(shards)) client.setQueryData(keys.shards(Number(uid)), all)
for (const [uid, trace] of Object.entries(traces)) client.setQueryData(keys.trace(uid, 1), trace)

/** Each component in each of its states, to look at. */
function Look() {
  return (
    <main className="content stack">
      <h1>Components</h1>
      {Object.entries(stories).map(([name, states]) => (
        <section key={name} className="stack" data-story={name}>
          <h2>{name}</h2>
          {Object.entries(states).map(([state, view]) => (
            <div key={state}>
              <p className="muted">{state}</p>
              {view}
            </div>
          ))}
        </section>
      ))}
    </main>
  )
}

const root = document.getElementById('root')
if (root !== null)
  createRoot(root).render(
    <QueryClientProvider client={client}>
      <Look />
    </QueryClientProvider>,
  )

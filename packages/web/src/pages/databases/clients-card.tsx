import type { Output, operations } from '@fairlead/api'
import { useState } from 'react'
import { useNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { MOST_CLIENTS, useClients } from '../../live/queries.ts'
import { Card } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { ago, plural } from '../../words/format.ts'

type Client = Output<typeof operations.listEndpointClients>['clients'][number]

const columnsAt = (now: number): readonly Column<Client>[] => [
  { name: 'Client', mono: true, cell: ({ client }) => client },
  { name: 'Name', wraps: true, cell: ({ name }) => (name === '' ? '–' : name) },
  { name: 'User', wraps: true, cell: ({ user }) => user },
  {
    name: 'Connected',
    title: (client) => client.connected_at,
    cell: (client) => ago(Date.parse(client.connected_at), now),
  },
  { name: 'Now', wraps: true, cell: ({ held }) => (held ? 'waits for a handover' : 'served') },
]

/** Connections to the endpoint. Only read while shown, because the proxy has to answer. */
export function ClientsCard({ uid }: { readonly uid: number }) {
  const may = useMay()
  const [isShown, show] = useState(false)
  if (!may('view_endpoint_stats', uid)) return null
  const button = (
    <button
      type="button"
      className="button button-quiet"
      aria-expanded={isShown}
      onClick={() => show(!isShown)}
    >
      {isShown ? 'Hide' : 'Show'}
    </button>
  )
  return (
    <Card title="Clients" beside={button}>
      {isShown ? (
        <Clients uid={uid} />
      ) : (
        <p className="muted">The connections to the endpoint, one by one.</p>
      )}
    </Card>
  )
}

function Clients({ uid }: { readonly uid: number }) {
  const clients = useClients(uid)
  return (
    <Answer of={clients} height={160}>
      {({ connections, clients: all }) =>
        all.length === 0 ? (
          <Empty title="No client is connected" />
        ) : (
          <>
            <p className="facts">
              <span>{plural(connections, 'client')}</span>
              {connections > all.length && <span>the oldest {MOST_CLIENTS} are listed</span>}
            </p>
            <ClientTable clients={all} />
          </>
        )
      }
    </Answer>
  )
}

function ClientTable({ clients }: { readonly clients: readonly Client[] }) {
  return (
    <Table
      label="Clients"
      as="compact"
      columns={columnsAt(useNow())}
      keyOf={({ client, connected_at: since }) => `${client} ${since}`}
      rows={clients}
    />
  )
}

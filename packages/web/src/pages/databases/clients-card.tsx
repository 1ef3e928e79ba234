import type { Output, operations } from '@fairlead/api'
import { useState } from 'react'
import { useNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { MOST_CLIENTS, useClients } from '../../live/queries.ts'
import { Columns } from '../../parts/columns.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { ago, plural } from '../../words/format.ts'

const columns = [
  { name: 'Client' },
  { name: 'Name' },
  { name: 'User' },
  { name: 'Connected' },
  { name: 'Now' },
]

/** The connections to the endpoint: asked for only while they are shown, because the proxy has to answer. */
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
            <TableBox label="Clients">
              <table className="table table-compact">
                <Columns of={columns} />
                <tbody>
                  {all.map((client) => (
                    <ClientRow key={`${client.client} ${client.connected_at}`} client={client} />
                  ))}
                </tbody>
              </table>
            </TableBox>
          </>
        )
      }
    </Answer>
  )
}

type Client = Output<typeof operations.listEndpointClients>['clients'][number]

function ClientRow({
  client: { client, name, user, connected_at: since, held },
}: {
  readonly client: Client
}) {
  const now = useNow()
  return (
    <tr>
      <th scope="row" className="mono">
        {client}
      </th>
      <td>{name === '' ? '–' : name}</td>
      <td>{user}</td>
      <td title={since}>{ago(Date.parse(since), now)}</td>
      <td>{held ? 'waits for a handover' : 'served'}</td>
    </tr>
  )
}

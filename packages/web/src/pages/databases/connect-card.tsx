import type { Database, Output, operations } from '@fairlead/api'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../live/api.ts'
import { useOwnNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { useAvailability } from '../../live/queries.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { addressOf, isOpenWithoutTls, markOfService } from '../../words/describe-database.ts'
import { ago } from '../../words/format.ts'

type Credentials = Output<typeof operations.getCredentials>
/** A password is hidden again after this time. */
const SHOWN_MS = 30_000

/** The address of a database, and whether clients are served now. */
export function ConnectCard({ database }: { readonly database: Database }) {
  const address = addressOf(database)
  return (
    <Card title="Connect" beside={<Served uid={database.uid} />}>
      {address === null ? (
        <p className="muted">There is no endpoint yet.</p>
      ) : (
        <div className="stack">
          <p className="copy-line">
            <code>{address}</code>
            <CopyButton text={address} label="Copy" />
          </p>
          <Elsewhere database={database} />
          <Password uid={database.uid} />
          <Examples address={address} isTls={database.tls_mode === 'enabled'} />
        </div>
      )}
    </Card>
  )
}

/** The other addresses of a database that other machines reach, and whether TLS is missing there. */
function Elsewhere({ database }: { readonly database: Database }) {
  const [first, ...others] = database.endpoints
  if (first?.addr_type !== 'external') return null
  return (
    <>
      <p className="muted">
        At {first.addr.join(', ')}. On the machine of Fairlead, also{' '}
        {others.map(({ dns_name, port }) => `${dns_name}:${port}`).join(', ')}.
      </p>
      {isOpenWithoutTls(database) && (
        <p data-tone="bad">
          Without TLS, clients on other machines send the password and all data in plain text.
        </p>
      )}
    </>
  )
}

function Served({ uid }: { readonly uid: number }) {
  const { data, dataUpdatedAt } = useAvailability(uid)
  const now = useOwnNow()
  if (data === undefined) return null
  return (
    <span className="served" title={data.why}>
      <MarkView mark={markOfService(data.served)} />{' '}
      <span className="muted">asked {ago(Math.min(dataUpdatedAt, now), now)}</span>
    </span>
  )
}

function Password({ uid }: { readonly uid: number }) {
  const may = useMay()
  const [shown, show] = useState<Credentials | null>(null)
  const reveal = useMutation({
    mutationFn: () => api.getCredentials({ params: { uid } }),
    onSuccess: show,
    gcTime: 0,
  })
  useEffect(() => {
    if (shown === null) return
    const timer = setTimeout(() => show(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown])
  if (!may('update_bdb', uid)) return null
  return (
    <>
      <p className="copy-line">
        <span>
          <span className="muted">Password of default </span>
          <code>{shown?.password ?? '••••••••'}</code>
        </span>
        {shown === null ? (
          <button
            type="button"
            className="button button-quiet"
            onClick={() => reveal.mutate()}
            disabled={reveal.isPending}
          >
            Show, and note it in the audit
          </button>
        ) : (
          <CopyButton text={shown.password} label="Copy" />
        )}
      </p>
      {reveal.error !== null && <Problem error={reveal.error} />}
    </>
  )
}

function Examples({ address, isTls }: { readonly address: string; readonly isTls: boolean }) {
  const [chosen, choose] = useState(0)
  const all = examples(address, isTls)
  return (
    <div>
      <div className="tabs">
        {all.map(({ name }, n) => (
          <button key={name} type="button" aria-pressed={n === chosen} onClick={() => choose(n)}>
            {name}
          </button>
        ))}
      </div>
      <pre className="code">{all[chosen]?.text}</pre>
    </div>
  )
}

/** Commands of common programs to copy, without the password. */
function examples(
  address: string,
  isTls: boolean,
): readonly { readonly name: string; readonly text: string }[] {
  const at = address.lastIndexOf(':')
  const [host, port] = [address.slice(0, at).replace(/^\[|\]$/g, ''), address.slice(at + 1)]
  const scheme = isTls ? 'rediss' : 'redis'
  const url = `${scheme}://default@${address}`
  return [
    { name: 'cli', text: `valkey-cli -h ${host} -p ${port}${isTls ? ' --tls' : ''} --askpass` },
    { name: 'ioredis', text: `new Redis('${url}', { password })` },
    { name: 'redis-py', text: `redis.Redis.from_url("${url}", password=password)` },
    {
      name: 'go',
      text: `redis.NewClient(&redis.Options{\n  Addr: "${address}", Password: password,${isTls ? ' TLSConfig: &tls.Config{},' : ''}\n})`,
    },
    {
      name: 'java',
      text: `RedisClient.create(RedisURI.builder()\n  .withHost("${host}").withPort(${port})${isTls ? '.withSsl(true)' : ''}\n  .withPassword(password).build())`,
    },
  ]
}

import { useNow } from '../../live/clock.ts'
import { useCluster } from '../../live/queries.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import type { Mark } from '../../words/describe-action.ts'
import { expiryOf } from '../../words/expiry-of.ts'
import { fullTime, plural } from '../../words/format.ts'
import { passwordRule } from '../../words/password-rule.ts'

type All = NonNullable<ReturnType<typeof useCluster>['data']>

/** The cluster's rules, and the ends of its certificates. The command line changes them. */
export function Cluster() {
  const all = useCluster()
  return (
    <Page title="Cluster">
      <Answer of={all} height={400}>
        {({ cluster, policy, certificates }) => (
          <div className="stack">
            <Certificates of={certificates} />
            <SignIn cluster={cluster} policy={policy} />
            <Card title="Engines and modules">
              <dl className="settings">
                <dt>Builds through which clients can run code</dt>
                <dd>{cluster.unsound_engines_allowed ? 'may be started' : 'are not started anew'}</dd>
                <dt>Largest package of a module</dt>
                <dd>{cluster.module_upload_max_size_mb} MB</dd>
              </dl>
              <ChangedWith commands={[putting('/v1/cluster', 'module_upload_max_size_mb', 64)]} />
            </Card>
          </div>
        )}
      </Answer>
    </Page>
  )
}

/** The command for one setting. */
function putting(path: string, setting: string, value: number): string {
  return `fairlead api PUT ${path} -d '{"${setting}": ${value}}'`
}

/** Names the commands: nothing is changed here. */
function ChangedWith({ commands: [first, second] }: { readonly commands: readonly [string, string?] }) {
  return (
    <p className="muted below-settings">
      Changed with the command line, for example <code>{first}</code>
      {second !== undefined && (
        <>
          {' '}
          and <code>{second}</code>
        </>
      )}
    </p>
  )
}

/** A certificate that ends earlier needs a person. */
const SOON_DAYS = 14
const DAY_MS = 86_400_000

function Certificates({
  of: { proxy_cert: proxy, api_cert: own, ca_cert: authority },
}: {
  readonly of: All['certificates']
}) {
  return (
    <Card title="TLS certificates" beside={<CopyButton text={authority} label="Copy the authority as PEM" />}>
      <dl className="settings">
        <dt>Endpoints of databases</dt>
        <dd>
          <Lasts pem={proxy} />
        </dd>
        <dt>This API, over HTTPS</dt>
        <dd>{own === null ? 'this server has no HTTPS' : <Lasts pem={own} />}</dd>
        <dt>Authority that signs them</dt>
        <dd>
          <Lasts pem={authority} />
        </dd>
      </dl>
      <ChangedWith commands={['fairlead certificates set proxy --cert-file cert.pem --key-file key.pem']} />
    </Card>
  )
}

function Lasts({ pem }: { readonly pem: string }) {
  const now = useNow()
  const end = expiryOf(pem)
  if (end === null) return 'cannot be read here'
  return (
    <span title={`until ${fullTime(new Date(end).toISOString())}`}>
      <MarkView mark={markOf(end, now)} />
    </span>
  )
}

function markOf(end: number, now: number): Mark {
  const days = Math.floor((end - now) / DAY_MS)
  if (end <= now) return { sign: 'failed', tone: 'bad', label: 'has expired' }
  const label = `${plural(days, 'day')} left`
  return days < SOON_DAYS ? { sign: 'stuck', tone: 'bad', label } : { sign: 'active', tone: 'ok', label }
}

function SignIn({ cluster, policy }: Pick<All, 'cluster' | 'policy'>) {
  const { login_lockout_threshold: tries, login_lockout_duration: locked } = policy
  const days = cluster.password_expiration_duration
  return (
    <Card title="Signing in">
      <dl className="settings">
        <dt>Passwords</dt>
        <dd>{passwordRule(cluster)}</dd>
        <dt>They expire</dt>
        <dd>{days === 0 ? 'never' : `after ${plural(days, 'day')}`}</dd>
        <dt>A user is locked</dt>
        <dd>
          {tries === 0
            ? 'never'
            : `after ${plural(tries, 'wrong password')} in a row, ${locked === 0 ? 'until an admin sets a new one' : `for ${plural(Math.round(locked / 60), 'minute')}`}`}
        </dd>
        <dt>Requests with name and password instead of a token</dt>
        <dd>{cluster.control_plane_basic_authentication ? 'are taken' : 'are refused'}</dd>
      </dl>
      <ChangedWith
        commands={[
          putting('/v1/cluster', 'password_min_length', 12),
          putting('/v1/cluster/policy', 'login_lockout_threshold', 5),
        ]}
      />
    </Card>
  )
}

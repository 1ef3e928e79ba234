import { api } from '../../live/api.ts'
import { useNow } from '../../live/clock.ts'
import { useCluster } from '../../live/queries.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import type { Setting } from '../../words/changed-settings.ts'
import type { Mark } from '../../words/describe-action.ts'
import { expiryOf } from '../../words/expiry-of.ts'
import { fullTime, plural } from '../../words/format.ts'
import { passwordRule } from '../../words/password-rule.ts'
import { ChangeSettings } from './change-settings.tsx'

type All = NonNullable<ReturnType<typeof useCluster>['data']>

/** The cluster's rules, and the ends of its certificates. */
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
              <ChangeSettings
                title="Change the rules for engines and modules…"
                settings={enginesOf(cluster)}
                send={(body) => api.updateCluster({ body })}
              />
            </Card>
          </div>
        )}
      </Answer>
    </Page>
  )
}

function enginesOf(cluster: All['cluster']): readonly Setting[] {
  const { unsound_engines_allowed: isUnsoundAllowed, module_upload_max_size_mb: largest } = cluster
  return [
    {
      name: 'unsound_engines_allowed',
      label: 'Builds through which clients can run code may be started',
      value: isUnsoundAllowed,
    },
    {
      name: 'module_upload_max_size_mb',
      label: 'Largest package of a module, in MB',
      value: largest,
      min: 1,
      max: 1_024,
    },
  ]
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
      <p className="muted below-settings">
        A certificate of your own, with the command line:{' '}
        <code>fairlead certificates set proxy --cert-file cert.pem --key-file key.pem</code>
      </p>
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
      <ChangeSettings
        title="Change the rules for passwords…"
        settings={passwordsOf(cluster)}
        send={(body) => api.updateCluster({ body })}
      />
      <ChangeSettings
        title="Change when users are locked…"
        settings={lockoutOf(policy)}
        send={(body) => api.updatePolicy({ body })}
      />
    </Card>
  )
}

function passwordsOf(cluster: All['cluster']): readonly Setting[] {
  return [
    {
      name: 'password_min_length',
      label: 'Characters of a password, at least',
      value: cluster.password_min_length,
      min: 8,
      max: 256,
    },
    {
      name: 'password_complexity',
      label: 'Passwords need letters of both cases, a digit and another character',
      value: cluster.password_complexity,
    },
    {
      name: 'password_expiration_duration',
      label: 'Days until a password expires; present ones, too (0: never)',
      value: cluster.password_expiration_duration,
      min: 0,
      max: 36_500,
    },
    {
      name: 'control_plane_basic_authentication',
      label: 'Requests may have name and password instead of a token',
      value: cluster.control_plane_basic_authentication,
    },
  ]
}

function lockoutOf(policy: All['policy']): readonly Setting[] {
  return [
    {
      name: 'login_lockout_threshold',
      label: 'Wrong passwords in a row that lock a user (0: never)',
      value: policy.login_lockout_threshold,
      min: 0,
      max: 1_000,
    },
    {
      name: 'login_lockout_duration',
      label: 'Seconds for which it is locked (0: until an admin sets a new password)',
      value: policy.login_lockout_duration,
      min: 0,
      max: 31_536_000,
    },
    {
      name: 'login_lockout_counter_reset_after',
      label: 'Seconds after which wrong passwords are forgotten',
      value: policy.login_lockout_counter_reset_after,
      min: 1,
      max: 31_536_000,
    },
  ]
}

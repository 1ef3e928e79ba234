import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../live/api.ts'
import { useMay, useMe } from '../live/permissions.ts'
import { tellSession } from '../live/query-clients.ts'
import { chooseTheme, useTheme } from '../live/theme.ts'
import { Glyph, type GlyphName } from './glyph.tsx'
import { LiveChip, StaleBanner } from './live-chip.tsx'

interface Entry {
  readonly to: string
  readonly label: string
  readonly glyph: GlyphName
  /** Without it the page is always empty, so it is not named. */
  readonly permission: string
}

const entries: readonly Entry[] = [
  { to: '/', label: 'Overview', glyph: 'home', permission: 'view_all_bdbs_info' },
  { to: '/databases', label: 'Databases', glyph: 'database', permission: 'view_all_bdbs_info' },
  { to: '/actions', label: 'Actions', glyph: 'action', permission: 'view_status_of_cluster_action' },
  { to: '/nodes', label: 'Nodes', glyph: 'node', permission: 'view_all_nodes_info' },
  { to: '/builds', label: 'Builds', glyph: 'build', permission: 'view_cluster_info' },
  { to: '/modules', label: 'Modules', glyph: 'module', permission: 'view_cluster_modules' },
  { to: '/access', label: 'Access', glyph: 'access', permission: 'view_all_users_info' },
  { to: '/audit', label: 'Audit', glyph: 'audit', permission: 'view_logged_events' },
]

/** What is around every page. */
export function Shell({ children }: { readonly children: ReactNode }) {
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Rail />
      <div className="column">
        <TopBar />
        <StaleBanner />
        <div id="content" className="content">
          {children}
        </div>
      </div>
    </div>
  )
}

function Rail() {
  const may = useMay()
  const [here] = useLocation()
  const isHere = (to: string) => here === to || (to !== '/' && here.startsWith(`${to}/`))
  return (
    <nav className="rail" aria-label="Pages">
      <Link href="/" className="brand" aria-label="Fairlead, overview">
        <Brand />
        <span>Fairlead</span>
      </Link>
      {entries
        .filter(({ permission }) => may(permission))
        .map(({ to, label, glyph }) => (
          <Link key={to} href={to} className="rail-link" aria-current={isHere(to) ? 'page' : undefined}>
            <Glyph name={glyph} />
            <span>{label}</span>
          </Link>
        ))}
    </nav>
  )
}

function TopBar() {
  const { name } = useMe()
  const theme = useTheme()
  const [, go] = useLocation()
  const leave = useMutation({
    mutationFn: () => api.endSession({}),
    onSuccess: () => {
      go('/')
      tellSession('out')
    },
  })
  const next = theme === 'dark' ? 'light' : 'dark'
  return (
    <header className="topbar">
      <LiveChip />
      <span className="spacer" />
      <button type="button" className="button button-quiet" onClick={() => chooseTheme(next)}>
        {theme === 'dark' ? 'Light' : 'Dark'}
      </button>
      {leave.error !== null && <span role="alert">You are still signed in: try again</span>}
      <span className="user" title={name}>
        {name}
      </span>
      <button type="button" className="button button-quiet" onClick={() => leave.mutate()}>
        Sign out
      </button>
    </header>
  )
}

/** A ring that guides a rope: that is a fairlead. */
export function Brand() {
  return (
    <svg className="brand-mark" viewBox="0 0 32 32" aria-hidden="true" fill="none">
      <circle cx="16" cy="16" r="8.5" stroke="currentColor" strokeWidth="4" />
      <path d="M2 23 30 9" stroke="currentColor" strokeWidth="3" strokeLinecap="round" />
    </svg>
  )
}

import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useCallback, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../live/api.ts'
import { useNow } from '../live/clock.ts'
import { useIsStale } from '../live/live-state.ts'
import { useMay, useMe } from '../live/permissions.ts'
import { tellSession } from '../live/query-clients.ts'
import { useClusterName } from '../live/use-cluster-name.ts'
import { useKeys } from '../live/use-keys.ts'
import { sayZone, zoneAt } from '../words/format.ts'
import { entries } from './entries.ts'
import { KeyHelp } from './key-help.tsx'
import { LiveChip, StaleBanner } from './live-chip.tsx'
import { Palette } from './palette.tsx'
import { Rail } from './rail.tsx'
import { ThemeButton } from './theme-button.tsx'

/** The frame of every page. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [over, setOver] = useState<'palette' | 'help' | null>(null)
  const [, go] = useLocation()
  const may = useMay()
  const find = useCallback(() => setOver('palette'), [])
  const close = useCallback(() => setOver(null), [])
  useKeys({
    onFind: find,
    onHelp: useCallback(() => setOver('help'), []),
    onGo: (letter) => {
      const entry = entries.find(({ key }) => key === letter)
      if (entry !== undefined && may(entry.permission)) go(entry.to)
    },
  })
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Rail />
      <div className="column">
        <TopBar find={find} />
        <StaleBanner />
        <Content>{children}</Content>
      </div>
      {over === 'palette' && <Palette onClose={close} />}
      {over === 'help' && <KeyHelp onClose={close} />}
    </div>
  )
}

/** Without colours while the server is out of sight: the content may be outdated. */
function Content({ children }: { readonly children: ReactNode }) {
  return (
    <div id="content" className="content" data-stale={useIsStale()}>
      {children}
    </div>
  )
}

/** The cluster's name, visible at every width. */
function ClusterName() {
  const name = useClusterName()
  return (
    <Link href="/cluster" className="cluster-name" title={`Cluster ${name}`}>
      {name}
    </Link>
  )
}

/** The time zone of the page, once, where nothing moves it. */
function Zone() {
  const now = useNow()
  return (
    <span className="zone" title={`Times on this page are in ${sayZone(now)}`}>
      Times in {zoneAt(now)}
    </span>
  )
}

function TopBar({ find }: { readonly find: () => void }) {
  const { name } = useMe()
  const [, go] = useLocation()
  const leave = useMutation({
    mutationFn: () => api.endSession({}),
    onSuccess: () => {
      go('/')
      tellSession('out')
    },
  })
  return (
    <header className="topbar">
      <ClusterName />
      <LiveChip />
      <span className="spacer" />
      <Zone />
      <button type="button" className="button button-quiet find" aria-keyshortcuts="Control+K" onClick={find}>
        Go to… <kbd>Ctrl K</kbd>
      </button>
      <ThemeButton />
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

import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useCallback, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../live/api.ts'
import { useNow } from '../live/clock.ts'
import { type Sight, useIsStale, useSight } from '../live/live-state.ts'
import { useMay, useMe } from '../live/permissions.ts'
import { tellSession } from '../live/query-clients.ts'
import { useClusterName } from '../live/use-cluster-name.ts'
import { useKeys, useSingleKeys } from '../live/use-keys.ts'
import { elapsed, sayZone, zoneAt } from '../words/format.ts'
import { Dialog } from './dialog.tsx'
import { entries } from './entries.ts'
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

const looks: Readonly<Record<Sight['kind'], { readonly sign: string; readonly tone: string }>> = {
  live: { sign: '●', tone: 'ok' },
  connecting: { sign: '◌', tone: 'quiet' },
  reconnecting: { sign: '◌', tone: 'wait' },
  stale: { sign: '▲', tone: 'wait' },
  denied: { sign: '‖', tone: 'quiet' },
}

function wordsOf({ kind, forMs }: Sight): string {
  const time = elapsed(forMs)
  switch (kind) {
    case 'live':
      return 'Live'
    case 'connecting':
      return 'Connecting'
    case 'reconnecting':
      return `Reconnecting ${time}`
    case 'stale':
      return `Last known, ${time} ago`
    case 'denied':
      return 'Not live'
  }
}

/** Shows whether the page follows the server. Has a constant width. */
function LiveChip() {
  const sight = useSight()
  const { sign, tone } = looks[sight.kind]
  const about =
    sight.kind === 'denied' ? 'Your roles lack view_cluster_info: reload to see what is new' : undefined
  return (
    <span className="live-chip" data-tone={tone} data-live={sight.kind} title={about}>
      <span aria-hidden="true">{sign}</span> {wordsOf(sight)}
    </span>
  )
}

/** Above every page while the server is out of sight. */
function StaleBanner() {
  const sight = useSight()
  if (sight.kind !== 'stale') return null
  return (
    <div className="banner" role="status">
      <strong>The console cannot see the server.</strong> Databases go on without it; whether they serve
      cannot be seen from here. Orders are off until it is back; what you see is as it was{' '}
      {elapsed(sight.forMs)} ago.
    </div>
  )
}

const keys = [
  ['Ctrl K, ⌘ K', 'go to a page, a database or an action'],
  ['g o, g d, g a, g n', 'Overview, Databases, Actions, Nodes'],
  ['/', 'to the filter of a list'],
  ['j, k, Enter', 'down and up a list, and open'],
  ['e, c', 'of an action: its events, and copy its certificates'],
  ['?', 'this list'],
  ['Esc', 'out of a question, without an order'],
] as const

/** Lists the shortcuts. No single key gives an order. */
function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const [isOn, turn] = useSingleKeys()
  const close = (
    // biome-ignore lint/a11y/noAutofocus: the focus has to be in the dialog
    <button type="button" className="button" autoFocus onClick={onClose}>
      Close
    </button>
  )
  return (
    <Dialog title="Keys" onClose={onClose} buttons={close}>
      <dl className="keys">
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt className="mono">{key}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={(event) => turn(event.target.checked)} /> Keys without
        Ctrl or ⌘
      </label>
    </Dialog>
  )
}

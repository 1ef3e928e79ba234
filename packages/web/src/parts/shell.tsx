import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useCallback, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../live/api.ts'
import { useMay, useMe } from '../live/permissions.ts'
import { tellSession } from '../live/query-clients.ts'
import { chooseTheme, useTheme } from '../live/theme.ts'
import { useKeys } from '../live/use-keys.ts'
import { entries } from './entries.ts'
import { Glyph } from './glyph.tsx'
import { KeyHelp } from './key-help.tsx'
import { LiveChip, StaleBanner } from './live-chip.tsx'
import { Palette } from './palette.tsx'

/** What is around every page. */
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
        <div id="content" className="content">
          {children}
        </div>
      </div>
      {over === 'palette' && <Palette onClose={close} />}
      {over === 'help' && <KeyHelp onClose={close} />}
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
          <Link
            key={to}
            href={to}
            className="rail-link"
            title={label}
            aria-current={isHere(to) ? 'page' : undefined}
          >
            <Glyph name={glyph} />
            <span>{label}</span>
          </Link>
        ))}
    </nav>
  )
}

function TopBar({ find }: { readonly find: () => void }) {
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
      <button type="button" className="button button-quiet find" aria-keyshortcuts="Control+K" onClick={find}>
        Go to… <kbd>Ctrl K</kbd>
      </button>
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

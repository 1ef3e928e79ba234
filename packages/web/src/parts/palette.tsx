import type { Database } from '@fairlead/api'
import { useId, useState } from 'react'
import { useLocation } from 'wouter'
import { useMay } from '../live/permissions.ts'
import { MOST_DATABASES, useDatabases, useKnownActions } from '../live/queries.ts'
import { type Found, fits, foundOf, foundOfDatabase } from '../words/find-in-palette.ts'
import { nameIn } from '../words/name-in.ts'
import { Dialog } from './dialog.tsx'
import { entries } from './entries.ts'

const MOST = 12

/**
 * Finds pages, databases, actions and orders by a part of their name. It gives no order: it leads to the page
 * that explains it and asks.
 */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const found = useFound(text)
  const chosen = Math.min(at, found.length - 1)
  const open = (one: Found | undefined) => {
    if (one === undefined) return
    onClose()
    go(one.to)
  }
  const press = (key: string): boolean => {
    const next = keyed(key, chosen, found.length)
    if (next !== null) setAt(next)
    else if (key === 'Enter') open(found[chosen])
    // In a search field, the browser would only clear it.
    else if (key === 'Escape') onClose()
    else return false
    return true
  }
  return (
    <Dialog title="Go to" onClose={onClose} className="palette">
      <Field
        {...{ list, text }}
        active={found.length > 0 ? `${list}-${chosen}` : undefined}
        press={press}
        type={(entered) => {
          setText(entered)
          setAt(0)
        }}
      />
      <Options {...{ list, found, chosen, open }} />
      {found.length === 0 && <p className="muted">Nothing here has this name.</p>}
    </Dialog>
  )
}

/** The choice after an arrow key; null: another key. */
function keyed(key: string, chosen: number, many: number): number | null {
  if (key === 'ArrowDown') return (chosen + 1) % Math.max(many, 1)
  if (key === 'ArrowUp') return (chosen - 1 + many) % Math.max(many, 1)
  return null
}

function Field(props: {
  readonly list: string
  readonly text: string
  readonly active: string | undefined
  readonly press: (key: string) => boolean
  readonly type: (text: string) => void
}) {
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here
      autoFocus
      type="search"
      role="combobox"
      aria-label="Page, database, action or order"
      aria-expanded
      aria-controls={props.list}
      aria-activedescendant={props.active}
      placeholder="Page, database, action or order"
      value={props.text}
      maxLength={63}
      onChange={(event) => props.type(event.target.value)}
      onKeyDown={(event) => {
        if (props.press(event.key)) event.preventDefault()
      }}
    />
  )
}

function Options(props: {
  readonly list: string
  readonly found: readonly Found[]
  readonly chosen: number
  readonly open: (one: Found) => void
}) {
  const { list, found, chosen, open } = props
  return (
    <div id={list} role="listbox" aria-label="What was found">
      {found.map((one, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
        <div
          key={`${one.kind} ${one.to} ${one.label}`}
          id={`${list}-${place}`}
          role="option"
          tabIndex={-1}
          aria-selected={place === chosen}
          onClick={() => open(one)}
        >
          <span className="cut">{one.label}</span> <span className="muted">{one.kind}</span>
        </div>
      ))}
    </div>
  )
}

function useFound(text: string): readonly Found[] {
  const may = useMay()
  const wanted = text.trim()
  const pages = entries
    .filter(({ permission }) => may(permission))
    .map(({ to, label }) => ({ to, label, kind: 'page' }))
  const databases = useKnownDatabases(wanted)
  const { open, orders, ended } = useFoundActions(databases)
  const here = (all: readonly Found[]) => all.filter((one) => fits(wanted, one))
  const plans = databases.flatMap((one) => foundOfDatabase(one, may('update_bdb_with_action', one.uid)))
  // Last, because Enter takes the first: no order is it while its action or a plan fits, too.
  const others = wanted === '' ? [] : [...orders, ...ended]
  return here([...pages, ...open, ...plans, ...others]).slice(0, MOST)
}

const fields = 'uid,name,action_uid'

/** The first databases, and others that the server finds. */
function useKnownDatabases(wanted: string): readonly Database[] {
  const first = useDatabases({ limit: MOST_DATABASES, fields, sort: 'name' }).data ?? []
  const found = useDatabases({ limit: MOST, fields, sort: 'name', ...(wanted !== '' && { q: wanted }) }).data
  return [...new Map([...first, ...(found ?? [])].map((one) => [one.uid, one])).values()]
}

/** Actions with the names of their databases. */
function useFoundActions(databases: readonly Database[]) {
  const may = useMay()
  const actions = useKnownActions(may('view_status_of_cluster_action')).data ?? []
  const nameOf = nameIn(databases)
  const found = actions.flatMap((action) => foundOf(action, nameOf(action)))
  const of = (wanted: Found['kind']) => found.filter(({ kind }) => kind === wanted)
  return { open: of('action'), orders: of('order'), ended: of('ended action') }
}

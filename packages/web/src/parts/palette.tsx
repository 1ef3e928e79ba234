import { useId, useState } from 'react'
import { useLocation } from 'wouter'
import { useMay } from '../live/permissions.ts'
import { useDatabases, useKnownActions } from '../live/queries.ts'
import { whatItDoes } from '../words/describe-action.ts'
import { Dialog } from './dialog.tsx'
import { entries } from './entries.ts'

interface Found {
  readonly to: string
  readonly kind: string
  readonly label: string
}

const MOST = 12

/** Goes to a page, a database or an action by a part of its name. It gives no order: those are on the pages it leads to, with their consequences. */
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
    // In a field to search with, the browser only empties it.
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

/** Which one an arrow leads to; null: it is no arrow. */
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
      aria-label="Page, database or action"
      aria-expanded
      aria-controls={props.list}
      aria-activedescendant={props.active}
      placeholder="Page, database or action"
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
          key={`${one.kind} ${one.to}`}
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
  const wanted = text.trim().toLowerCase()
  const fields = 'uid,name,upgradable_to'
  const asked = useDatabases({ limit: 6, fields, sort: 'name', ...(wanted !== '' && { q: wanted }) })
  const databases = asked.data ?? []
  const actions = useKnownActions().data ?? []
  const fits = ({ label, kind }: Found) => `${label} ${kind}`.toLowerCase().includes(wanted)
  const pages = entries
    .filter(({ permission }) => may(permission))
    .map(({ to, label }) => ({ to, label, kind: 'page' }))
  const ofDatabases = databases.flatMap(({ uid, name, upgradable_to: target }) => [
    { to: `/databases/${uid}`, label: name, kind: 'database' },
    ...(target != null && may('update_bdb_with_action', uid)
      ? [{ to: `/databases/${uid}/upgrade`, label: `Upgrade ${name}…`, kind: 'plan' }]
      : []),
  ])
  const open = actions.filter(({ phase }) => phase !== 'ended')
  const ofActions = open.map((action) => ({
    to: `/actions/${action.action_uid}`,
    label: `${databases.find(({ uid }) => uid === action.bdb_uid)?.name ?? action.object_name}: ${whatItDoes(action)}`,
    kind: 'action',
  }))
  return [
    ...pages.filter(fits),
    ...ofActions.filter(fits),
    ...(asked.isPlaceholderData ? ofDatabases.filter(fits) : ofDatabases),
  ].slice(0, MOST)
}

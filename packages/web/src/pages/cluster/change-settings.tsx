import { useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { keys } from '../../live/keys.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useMay } from '../../live/permissions.ts'
import { useOrder } from '../../live/use-order.ts'
import { Problem } from '../../parts/problem.tsx'
import { changedSettings, type Setting } from '../../words/changed-settings.ts'

type Changes = Readonly<Record<string, number | boolean>>

interface ChangeProps {
  readonly title: string
  readonly settings: readonly Setting[]
  /** Sends what was changed. */
  readonly send: (changes: Changes) => Promise<unknown>
}

/** The form for some settings of the cluster, opened when it is wanted. Absent without the permission. */
export function ChangeSettings({ title, settings, send }: ChangeProps) {
  if (!useMay()('update_cluster')) return null
  return (
    <details className="below-settings">
      <summary>{title}</summary>
      {/* A new element when the values have changed, because a default is read only once. */}
      <SettingsForm key={JSON.stringify(settings)} settings={settings} send={send} />
    </details>
  )
}

function SettingsForm({ settings, send }: Omit<ChangeProps, 'title'>) {
  const isStale = useIsStale()
  const client = useQueryClient()
  const change = useOrder({
    mutationFn: send,
    onSettled: () => client.invalidateQueries({ queryKey: keys.cluster }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    change.mutate(changedSettings(new FormData(event.currentTarget), settings))
  }
  return (
    <form className="form form-card" onSubmit={submit} autoComplete="off">
      {settings.map((setting) => (
        <Field key={setting.name} {...setting} />
      ))}
      {change.error !== null && <Problem error={change.error} />}
      <div>
        <button type="submit" className="button button-main" disabled={isStale || change.isPending}>
          Change
        </button>
      </div>
    </form>
  )
}

function Field({ name, label, value, min, max }: Setting) {
  if (typeof value === 'boolean')
    return (
      <label className="check">
        <input name={name} type="checkbox" defaultChecked={value} /> {label}
      </label>
    )
  return (
    <label>
      {label}
      <input name={name} type="number" required {...{ min, max }} defaultValue={value} />
    </label>
  )
}

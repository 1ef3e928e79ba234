import type { FormEvent } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../live/api.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useOrder } from '../../live/use-order.ts'
import { Card, Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { creationOf } from '../../words/database-forms.ts'
import { CreationFields } from './creation-fields.tsx'

/** The form for a new database, with settings that allow upgrades without interruption. */
export function CreateDatabase() {
  const [, go] = useLocation()
  const isStale = useIsStale()
  const create = useOrder({
    mutationFn: (form: FormData) => api.createDatabase({ body: creationOf(form) }),
    onSuccess: ({ uid }) => go(`/databases/${uid}`),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    create.mutate(new FormData(event.currentTarget))
  }
  return (
    <Page title="New database" above={{ to: '/databases', label: 'Databases' }}>
      <Card className="form-card">
        <form className="form" onSubmit={submit}>
          <CreationFields />
          {create.error !== null && <Problem error={create.error} />}
          <div>
            <button type="submit" className="button button-main" disabled={create.isPending || isStale}>
              Create
            </button>
          </div>
        </form>
      </Card>
    </Page>
  )
}

import { Link } from 'wouter'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/problem.tsx'

/** The page of a missing or deleted database. */
export function NoDatabase({ name }: { readonly name: string }) {
  return (
    <Page title={name} above={{ to: '/databases', label: 'Databases' }}>
      <Empty title="There is no such database">
        It was deleted, or there has never been one, or your roles do not let you see it.
        <p>
          <Link href="/databases" className="button">
            All databases
          </Link>
        </p>
      </Empty>
    </Page>
  )
}

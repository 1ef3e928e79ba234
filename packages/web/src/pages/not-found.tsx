import { Link, useLocation } from 'wouter'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/problem.tsx'

/** An unknown address. */
export function NotFound() {
  const [here] = useLocation()
  return (
    <Page title="Nothing is here">
      <Empty title={`There is no page ${here}`}>
        <Link href="/" className="button">
          Go to the overview
        </Link>
      </Empty>
    </Page>
  )
}

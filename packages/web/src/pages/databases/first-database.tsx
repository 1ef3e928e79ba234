import { Link } from 'wouter'
import { useMay } from '../../live/permissions.ts'
import { Card } from '../../parts/page.tsx'

/** What a new cluster shows: what one can do, and one button. */
export function FirstDatabase() {
  const may = useMay()
  return (
    <Card className="first">
      <h2>Create a database, and upgrade it while it is used</h2>
      <p>
        Fairlead starts real engine processes on this machine. Create one on an older engine, connect your
        program to its endpoint, and upgrade: the page shows how long writes stood still, and that nothing was
        lost.
      </p>
      {may('create_bdb') ? (
        <Link href="/databases/new" className="button button-main">
          Create a database that you can upgrade
        </Link>
      ) : (
        <p className="muted">Your roles lack create_bdb: ask an admin for a first database.</p>
      )}
    </Card>
  )
}

import { useMay } from '../../live/permissions.ts'
import { ButtonLink } from '../../parts/button-link.tsx'
import { Card } from '../../parts/page.tsx'

/** The page of an empty cluster, with one button. */
export function FirstDatabase() {
  const may = useMay()
  return (
    <Card className="first">
      <h2>Create a database, and upgrade it while it is used</h2>
      <p>
        Fairlead starts real engine processes on this machine. Connect your program to the endpoint of a
        database, and upgrade it when there is a newer build: the page shows how long writes stood still, and
        that nothing was lost. To see an upgrade at once, choose an older build in the form.
      </p>
      {may('create_bdb') ? (
        <ButtonLink to="/databases/new">Create a database</ButtonLink>
      ) : (
        <p className="muted">Your roles lack create_bdb: ask an admin for a first database.</p>
      )}
    </Card>
  )
}

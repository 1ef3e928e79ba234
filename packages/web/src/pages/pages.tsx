import { Link, Route, Switch, useLocation } from 'wouter'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/problem.tsx'
import { ActionPage } from './actions/action-page.tsx'
import { Actions } from './actions/actions.tsx'
import { Access } from './cluster/access.tsx'
import { Audit } from './cluster/audit.tsx'
import { Builds } from './cluster/builds.tsx'
import { Cluster } from './cluster/cluster.tsx'
import { Modules } from './cluster/modules.tsx'
import { Nodes } from './cluster/nodes.tsx'
import { Roles } from './cluster/roles.tsx'
import { NewUser, UserPage } from './cluster/user-page.tsx'
import { CreateDatabase } from './databases/create-database.tsx'
import { DatabasePage } from './databases/database-page.tsx'
import { Databases } from './databases/databases.tsx'
import { Overview } from './overview/overview.tsx'
import { UpgradePage } from './upgrade/upgrade-page.tsx'

/** The page for an address. */
export function Pages() {
  return (
    <Switch>
      <Route path="/" component={Overview} />
      <Route path="/databases" component={Databases} />
      <Route path="/databases/new" component={CreateDatabase} />
      <Route path="/databases/:ref/upgrade">{({ ref }) => <UpgradePage key={ref} name={ref} />}</Route>
      <Route path="/databases/:ref">{({ ref }) => <DatabasePage key={ref} name={ref} />}</Route>
      <Route path="/actions" component={Actions} />
      <Route path="/actions/:uid">{({ uid }) => <ActionPage key={uid} uid={uid} />}</Route>
      <Route path="/nodes" component={Nodes} />
      <Route path="/builds" component={Builds} />
      <Route path="/modules" component={Modules} />
      <Route path="/access" component={Access} />
      <Route path="/access/new" component={NewUser} />
      <Route path="/access/roles" component={Roles} />
      <Route path="/access/:uid">{({ uid }) => <UserPage key={uid} uid={Number(uid)} />}</Route>
      <Route path="/audit" component={Audit} />
      <Route path="/cluster" component={Cluster} />
      <Route component={NotFound} />
    </Switch>
  )
}

/** An unknown address. */
function NotFound() {
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

import { join } from 'node:path'
import { findCircles } from './find-circles.ts'
import { mustSee, rule } from './rule.ts'
import { files, importsIn, isLocal, target } from './tree.ts'

/**
 * Features of the server whose records change together, in one transaction: a realm is one room with the features as its
 * sub-rooms, and every other feature is a realm of its own. A feature opens the stores of its realm, and the audit's, into
 * which every change is written in its own transaction; what others have on record it learns from their services.
 */
const together: Readonly<Record<string, readonly string[]>> = {
  identity: ['users', 'roles', 'passwords', 'sessions', 'cluster'],
  databases: ['databases', 'actions', 'modules', 'events'],
}
/** What is below the features, and the reconciler, of which architecture.ts says what it may open. */
const others = ['core', 'store', 'http', 'reconcile']

const home = 'packages/server/src/'
const inFolders = files.filter((file) => file.startsWith(home) && file.slice(home.length).includes('/'))
const ofServer = inFolders.filter((file) => !file.endsWith('.test.ts'))
const ofFeatures = ofServer.filter((file) => !others.includes(featureOf(file)))

/** How the realms of the server use each other. */
export const realms = [
  rule('realms of the server use each other in one direction', () => {
    const uses = Map.groupBy(
      ofServer.flatMap((file) =>
        importsIn(file)
          .filter(({ from }) => isLocal(from))
          .map(({ from }) => ({ from: placeOf(file), to: placeOf(target(file, from)) })),
      ),
      ({ from }) => from,
    )
    const next = (place: string) => (uses.get(place) ?? []).map(({ to }) => to).filter((to) => to !== place)
    mustSee(uses.size, 11)
    return findCircles([...uses.keys()], next).map((circle) => circle.join(' → '))
  }),

  rule('each feature of a realm is there', () => {
    const features = new Set(ofFeatures.map(featureOf))
    return Object.values(together)
      .flat()
      .filter((feature) => !features.has(feature))
  }),

  rule('a feature of the server opens no store of another realm but the audit', () =>
    ofFeatures.flatMap((file) =>
      importsIn(file)
        .map(({ from }) => join(file, '..', from))
        .filter((there) => there.endsWith('-store.ts') && !['audit', 'store'].includes(featureOf(there)))
        .filter((there) => realmOf(featureOf(there)) !== realmOf(featureOf(file)))
        .map((there) => `${file} → ${there}`),
    ),
  ),
]

/** The realm of a file, and whether it is routes: they are above all services, so they may ask those of any feature. */
function placeOf(file: string): string {
  const realm = realmOf(featureOf(file))
  return file.endsWith('-routes.ts') ? `${realm} routes` : realm
}

function featureOf(file: string): string {
  return file.slice(home.length).split('/')[0] ?? ''
}

function realmOf(feature: string): string {
  return Object.keys(together).find((realm) => together[realm]?.includes(feature)) ?? feature
}

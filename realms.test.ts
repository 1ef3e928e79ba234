import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findCircles } from './tools/find-circles.ts'
import { importsOf } from './tools/read-imports.ts'

/**
 * Features of the server whose records change together, in one transaction: a realm is one room with the features as its sub-rooms. Every
 * other feature is a realm of its own. A feature opens the stores of its realm, and the audit's, into which every change is written in
 * its own transaction; what others have on record it learns from their services.
 */
const realms: Readonly<Record<string, readonly string[]>> = {
  identity: ['users', 'roles', 'passwords', 'sessions', 'cluster'],
  databases: ['databases', 'actions', 'modules', 'events'],
}
/** What is below the features, and the reconciler, of which architecture.test.ts says what it may open. */
const others = ['core', 'store', 'http', 'reconcile']

const root = join(import.meta.dirname, 'packages/server/src')
const featureOf = (file: string) => file.split('/')[0] ?? ''
const realmOf = (feature: string) =>
  Object.keys(realms).find((realm) => realms[realm]?.includes(feature)) ?? feature

/** The realm of a file, and whether it is routes: they are above all services, so they may ask those of any feature. */
const placeOf = (file: string) =>
  file.endsWith('-routes.ts') ? `${realmOf(featureOf(file))} routes` : realmOf(featureOf(file))

test('realms of the server use each other in one direction', () => {
  const files = globSync('*/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const uses = Map.groupBy(
    files.flatMap((file) =>
      importsOf(readFileSync(join(root, file), 'utf8'))
        .filter(({ from }) => from.startsWith('.'))
        .map(({ from }) => ({ from: placeOf(file), to: placeOf(join(dirname(file), from)) })),
    ),
    ({ from }) => from,
  )
  const next = (place: string) => (uses.get(place) ?? []).map(({ to }) => to).filter((to) => to !== place)
  expect(uses.size).toBeGreaterThan(10)
  expect(findCircles([...uses.keys()], next)).toEqual([])
})

test('a feature of the server opens no store of another realm but the audit', () => {
  const files = globSync('*/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts') && !others.includes(featureOf(file)),
  )
  const features = new Set(files.map(featureOf))
  expect(
    Object.values(realms)
      .flat()
      .filter((feature) => !features.has(feature)),
  ).toEqual([])
  const wrong = files.flatMap((file) =>
    importsOf(readFileSync(join(root, file), 'utf8'))
      .map(({ from }) => join(dirname(file), from))
      .filter((there) => there.endsWith('-store.ts') && !['audit', 'store'].includes(featureOf(there)))
      .filter((there) => realmOf(featureOf(there)) !== realmOf(featureOf(file)))
      .map((there) => `${file} → ${there}`),
  )
  expect(wrong).toEqual([])
})

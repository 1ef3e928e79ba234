import { expect, test } from 'vitest'
import { createDatabase } from '../../../proof/create-database.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { blocksOf, paste } from '../../support/walk.ts'

test('pasted commands end with the code of the error: for an unknown version, and when they are pasted again', async () => {
  await using fairlead = await startFairlead()
  // A walk must not depend on an empty cluster.
  await createDatabase(fairlead, { name: 'another', memory_size: 0, engine_version: 'valkey-8.0' })
  const unknownVersion = (page: string) =>
    paste(blocksOf(fairlead, page).map((block) => block.replaceAll('"valkey-8.1"', '"valkey-9.9"')))
  for (const page of ['docs/start/api.md', 'docs/operate/upgrades.md']) {
    expect((await unknownVersion(page)).stderr).toContain('"error_code":"invalid_version"')
    expect((await unknownVersion(page)).stderr).toContain('"error_code":"name_already_exists"')
  }
  const recipe = await unknownVersion('docs/operate/follow-an-upgrade-live.md')
  expect(recipe.stderr).toContain('"error_code":"name_already_exists"')
  expect(await fairlead.api.getDatabase({ params: { uid: 1 } })).toMatchObject({
    name: 'another',
    engine: 'valkey',
  })
})

test('the first steps over the API end with an error while the password is not filled in', async () => {
  await using fairlead = await startFairlead()
  const blocks = blocksOf(fairlead, 'docs/start/api.md').map((block) => {
    return block.replace(/"password": "[^"]*"/, '"password": "PASSWORD"')
  })
  expect((await paste(blocks)).stderr).toContain('"error_code":"unauthorized"')
  expect(await fairlead.api.listDatabases({})).toEqual([])
})

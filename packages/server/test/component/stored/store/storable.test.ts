import { expect, test } from 'vitest'
import { fairlead } from '../../../../src/core/identity/audit-record.ts'
import { verifyAudit } from '../../../../src/identity/audit/verify-audit.ts'
import { auditStore } from '../../../../src/identity/stores/audit-store.ts'
import { openTestStore } from '../../../open-test-store.ts'

/** What an engine, a module or a machine may say: NUL, and halves of a surrogate pair. */
const said = ['a\0b', '\0', '\ud800', 'x\udfffy', 'whole \u{1f600}', 'é']
const kept = ['a\ufffdb', '\ufffd', '\ufffd', 'x\ufffdy', 'whole \u{1f600}', 'é']

test('a text that a store cannot hold fails no statement, and is found again by the original text', async () => {
  await using store = await openTestStore(':memory:')
  const { db } = store
  for (const [n, text] of said.entries()) {
    await store.transaction((within) =>
      within
        .insertInto('module_actions')
        .values(rowOf(`first-${n}`, text))
        .execute(),
    )
    await db
      .insertInto('module_actions')
      .values([rowOf(`second-${n}`, 'x')])
      .execute()
    const changed = db.updateTable('module_actions').set({ kind: text })
    await changed.where('uid', '=', `second-${n}`).execute()
    const found = db.selectFrom('module_actions').select(['uid', 'kind']).orderBy('uid')
    const same = kept.flatMap((other, at) => (other === kept[n] && at <= n ? [at] : []))
    expect([n, await found.where('kind', '=', text).execute()]).toEqual([
      n,
      ['first', 'second'].flatMap((which) =>
        same.map((at) => ({ uid: `${which}-${at}`, kind: kept[n] ?? '' })),
      ),
    ])
  }
})

test('the audit can be verified after an engine has said such a text', async () => {
  await using store = await openTestStore(':memory:')
  for (const text of said)
    await store.transaction((db) =>
      auditStore(db).append(
        { type: 'bdb_action_failed', by: { ...fairlead, name: text, address: text }, details: { why: text } },
        '2026-11-23T12:00:00.000Z',
      ),
    )
  expect(await verifyAudit(store.db)).toMatchObject({ records: said.length, fault: undefined })
})

function rowOf(uid: string, kind: string) {
  return { uid, kind, module_uid: kind, created_at: '2026-11-23T12:00:00.000Z' }
}

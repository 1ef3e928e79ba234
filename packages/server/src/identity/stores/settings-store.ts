import { Type } from 'typebox'
import { defaultSettings, type Settings } from '../../core/identity/settings.ts'
import type { Db } from '../../store/open-store.ts'
import { jsonColumn } from '../../store/stored-column.ts'

/** The settings, one row per section. A section that was never set has its defaults. */
export function settingsStore(db: Db) {
  return {
    /** Settings that were never set have their defaults. */
    async get(): Promise<Settings> {
      const rows = await db.selectFrom('settings').selectAll().execute()
      const set = new Map(rows.map(({ name, value }) => [name, value]))
      const part = <Part>(name: keyof Settings, read: (text: string, row: string) => Part, unset: Part) => {
        const text = set.get(name)
        return text === undefined ? unset : read(text, name)
      }
      return {
        name: part('name', readText, defaultSettings.name),
        createdAt: part('createdAt', readTextOrNull, defaultSettings.createdAt),
        passwordRules: part('passwordRules', readPasswordRules, defaultSettings.passwordRules),
        passwordDays: part('passwordDays', readInteger, defaultSettings.passwordDays),
        basicAllowed: part('basicAllowed', readBoolean, defaultSettings.basicAllowed),
        lockout: part('lockout', readLockout, defaultSettings.lockout),
        moduleUploadMb: part('moduleUploadMb', readInteger, defaultSettings.moduleUploadMb),
        unsoundEnginesAllowed: part(
          'unsoundEnginesAllowed',
          readBoolean,
          defaultSettings.unsoundEnginesAllowed,
        ),
      }
    },
    async set(change: Partial<Settings>): Promise<void> {
      for (const [name, part] of Object.entries(change)) {
        const value = JSON.stringify(part)
        await db
          .insertInto('settings')
          .values({ name, value })
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
          .execute()
      }
    },
  }
}

const readText = jsonColumn('settings', 'value', Type.String())
const readTextOrNull = jsonColumn('settings', 'value', Type.Union([Type.String(), Type.Null()]))
const readInteger = jsonColumn('settings', 'value', Type.Integer())
const readBoolean = jsonColumn('settings', 'value', Type.Boolean())
const readPasswordRules = jsonColumn(
  'settings',
  'value',
  Type.Object({ minLength: Type.Integer(), complexity: Type.Boolean() }),
)
const readLockout = jsonColumn(
  'settings',
  'value',
  Type.Object({
    threshold: Type.Integer(),
    resetAfterSeconds: Type.Integer(),
    durationSeconds: Type.Integer(),
  }),
)

import { defaultSettings, type Settings } from '../core/identity/settings.ts'
import type { Db } from '../store/open-store.ts'

export interface SettingsStore {
  /** Those that were never set are the defaults. */
  get(): Promise<Settings>
  set(change: Partial<Settings>): Promise<void>
}

/** The settings, a row each section; what was never set has its default. */
export function settingsStore(db: Db): SettingsStore {
  return {
    async get() {
      const rows = await db.selectFrom('settings').selectAll().execute()
      const set = Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown]))
      return { ...defaultSettings, ...(set as Partial<Settings>) } // written by `set` below
    },
    async set(change) {
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

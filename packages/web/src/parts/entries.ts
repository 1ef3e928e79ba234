import type { GlyphName } from './glyph.tsx'

/** A page in the rail and the palette. */
export interface Entry {
  readonly to: string
  readonly label: string
  readonly glyph: GlyphName
  /** Hidden without it, because the page would be empty. */
  readonly permission: string
  /** After `g`. */
  readonly key?: string
}

/** The pages, in the order of the rail. */
export const entries: readonly Entry[] = [
  { to: '/', label: 'Overview', glyph: 'home', permission: 'view_all_bdbs_info', key: 'o' },
  { to: '/databases', label: 'Databases', glyph: 'database', permission: 'view_all_bdbs_info', key: 'd' },
  {
    to: '/actions',
    label: 'Actions',
    glyph: 'action',
    permission: 'view_status_of_cluster_action',
    key: 'a',
  },
  { to: '/nodes', label: 'Nodes', glyph: 'node', permission: 'view_all_nodes_info', key: 'n' },
  { to: '/builds', label: 'Builds', glyph: 'build', permission: 'view_cluster_info' },
  { to: '/modules', label: 'Modules', glyph: 'module', permission: 'view_cluster_modules' },
  { to: '/access', label: 'Access', glyph: 'access', permission: 'view_all_users_info' },
  { to: '/audit', label: 'Audit', glyph: 'audit', permission: 'view_logged_events' },
  { to: '/cluster', label: 'Cluster', glyph: 'cluster', permission: 'view_cluster_info' },
]

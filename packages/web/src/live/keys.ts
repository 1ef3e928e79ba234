/** Under which names the console keeps what it knows. */
export const keys = {
  self: ['self'],
  databases: ['databases'],
  database: (uid: number) => ['database', uid],
  targets: (uid: number) => ['targets', uid],
  shards: (uid: number) => ['shards', uid],
  availability: (uid: number) => ['availability', uid],
  stats: (uid: number) => ['stats', uid],
  actions: ['actions'],
  action: (uid: string) => ['action', uid],
  trace: (uid: string, handover: number) => ['trace', uid, handover],
  nodes: ['nodes'],
  builds: ['builds'],
  modules: ['modules'],
  logs: ['logs'],
  users: ['users'],
  roles: ['roles'],
} as const

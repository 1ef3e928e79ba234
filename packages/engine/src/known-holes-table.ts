/** A public vulnerability of engines. */
export interface Hole {
  /** The CVE. Flavours' different numbers for it are one entry, under the first. */
  readonly id: string
  /** Year and month of its publication. */
  readonly known: string
  readonly what: string
  /** Effect by a client of a database, or an attacker at the port: code in the engine, its end, or less. */
  readonly reach: 'code' | 'crash' | 'other'
  /**
   * First release of each line with the fix, by flavour; "8.0.x": none is known in that line. A missing
   * flavour does not have it, or no source mentions it.
   */
  readonly upstream: Readonly<Record<string, readonly string[]>>
  /** Version that introduced it, by flavour; absent: all have it. */
  readonly since?: Readonly<Record<string, string>>
  /** "flavour version revision": the first Debian revision of that version with the fix. */
  readonly debian: readonly string[]
}

/**
 * State of 22 November 2026, from the release notes of Valkey and Redis, the CVE records, and the changelogs
 * of Debian's packages (valkey 8.1.1-3+deb13u3 and 9.1.2-1, redis 6.0.16-1+deb11u9, 7.0.15-1~deb12u10,
 * 8.0.2-3+deb13u3 and 8.0.6-3, redict 7.3.6-2). If a release with the fix was not found, the next one that
 * surely has it is listed. Only vulnerabilities of the server, not of its tools or modules.
 */
export const holes: readonly Hole[] = [
  {
    id: 'CVE-2026-92925',
    known: '2026-09',
    what: 'a forged message on the cluster bus is read beyond its end',
    reach: 'crash',
    upstream: { redis: ['8.0.x'] },
    debian: ['redis 7.0.15 1~deb12u10', 'redis 8.0.6 3'],
  },
  {
    id: 'CVE-2026-82631',
    known: '2026-08',
    what: 'use after free among clients that wait for a key',
    reach: 'crash',
    upstream: { valkey: ['9.1.2'] },
    debian: ['valkey 8.1.1 3+deb13u3'],
  },
  {
    id: 'CVE-2026-81934',
    known: '2026-08',
    what: 'use after free in TLS connections (CVE-2026-56684 of Valkey): before the login with Redis',
    reach: 'code',
    upstream: {
      valkey: ['8.0.10', '8.1.9', '9.0.5', '9.1.1'],
      redis: ['8.2.9', '8.4.6', '8.6.6', '8.8.2', '8.10.1'],
    },
    debian: [
      ...['valkey 8.1.1 3+deb13u3', 'redis 8.0.2 3+deb13u3'],
      ...['redis 7.0.15 1~deb12u10', 'redis 8.0.6 3'],
    ],
  },
  {
    id: 'CVE-2026-66373',
    known: '2026-07',
    what: 'RESTORE of a forged stream frees memory twice (CVE-2026-63639 of Valkey)',
    reach: 'code',
    upstream: {
      valkey: ['8.0.10', '8.1.9', '9.0.5', '9.1.1'],
      redis: ['8.2.9', '8.4.6', '8.6.6', '8.8.2', '8.10.1'],
    },
    debian: [
      ...['valkey 8.1.1 3+deb13u3', 'redis 8.0.2 3+deb13u3', 'redis 8.0.6 3'],
      ...['redis 7.0.15 1~deb12u9', 'redis 6.0.16 1+deb11u9'],
    ],
  },
  {
    id: 'CVE-2026-25243',
    known: '2026-05',
    what: 'RESTORE of a forged value reads and writes beyond its memory',
    reach: 'code',
    upstream: {
      valkey: ['8.0.10', '8.1.7', '9.0.4', '9.1.0'],
      redis: ['6.2.22', '7.4.9', '8.2.6', '8.4.3', '8.6.3'],
    },
    debian: [
      ...['valkey 8.1.1 3+deb13u3', 'redis 8.0.2 3+deb13u3'],
      ...['redis 7.0.15 1~deb12u8', 'redis 8.0.6 3'],
    ],
  },
  {
    id: 'CVE-2026-23479',
    known: '2026-05',
    what: 'use after free when a client that waits is served',
    reach: 'code',
    upstream: {
      valkey: ['8.0.10', '8.1.7', '9.0.4', '9.1.0'],
      redis: ['7.4.9', '8.2.6', '8.4.3', '8.6.3'],
    },
    since: { redis: '7.2.0' },
    debian: ['valkey 8.1.1 3+deb13u3', 'redis 8.0.2 3+deb13u3', 'redis 8.0.6 3'],
  },
  {
    id: 'CVE-2026-23631',
    known: '2026-05',
    what: 'use after free on replicas that take writes, which those of Fairlead do not',
    reach: 'other',
    upstream: {
      valkey: ['8.0.10', '8.1.7', '9.0.4', '9.1.0'],
      redis: ['7.4.9', '8.2.6', '8.4.3', '8.6.3'],
    },
    debian: [
      ...['valkey 8.1.1 3+deb13u3', 'redis 8.0.2 3+deb13u3'],
      ...['redis 7.0.15 1~deb12u8', 'redis 8.0.6 3'],
    ],
  },
  {
    id: 'CVE-2026-27623',
    known: '2026-02',
    what: 'a malformed request ends the engine, before the login',
    reach: 'crash',
    upstream: { valkey: ['9.0.3'] },
    since: { valkey: '9.0.0' },
    debian: [],
  },
  {
    id: 'CVE-2026-21863',
    known: '2026-02',
    what: 'a forged message on the cluster bus ends the engine',
    reach: 'crash',
    upstream: { valkey: ['7.2.12', '8.0.7', '8.1.6', '9.0.3'], redis: ['8.0.x'], redict: ['7.3.x'] },
    debian: [
      ...['valkey 8.1.1 3+deb13u2', 'valkey 8.1.4 2', 'redis 8.0.2 3+deb13u2'],
      ...['redis 7.0.15 1~deb12u7', 'redis 8.0.6 1', 'redict 7.3.6 2'],
    ],
  },
  {
    id: 'CVE-2025-67733',
    known: '2026-02',
    what: 'a script writes what it likes into the replies of its connection',
    reach: 'other',
    upstream: { valkey: ['7.2.12', '8.0.7', '8.1.6', '9.0.3'], redis: ['8.0.x'], redict: ['7.3.x'] },
    debian: [
      ...['valkey 8.1.1 3+deb13u2', 'valkey 8.1.4 2', 'redis 8.0.2 3+deb13u2'],
      ...['redis 7.0.15 1~deb12u7', 'redis 8.0.6 1', 'redict 7.3.6 2'],
    ],
  },
  {
    id: 'CVE-2025-62507',
    known: '2025-11',
    what: 'XACKDEL writes beyond the stack',
    reach: 'code',
    upstream: { redis: ['8.2.3'] },
    since: { redis: '8.2.0' },
    debian: [],
  },
  {
    id: 'CVE-2025-49844',
    known: '2025-10',
    what: 'a Lua script runs code in the engine (with CVE-2025-46817, -46818 and -46819)',
    reach: 'code',
    upstream: {
      valkey: ['7.2.11', '8.0.6', '8.1.4'],
      redis: ['6.2.20', '7.2.11', '7.4.6', '8.0.4', '8.2.2'],
      redict: ['7.3.6'],
    },
    debian: [
      ...['valkey 8.1.1 3+deb13u1', 'redis 8.0.2 3+deb13u1'],
      ...['redis 7.0.15 1~deb12u6', 'redis 6.0.16 1+deb11u8'],
    ],
  },
  {
    id: 'CVE-2025-32023',
    known: '2025-07',
    what: 'a forged HyperLogLog is written beyond its memory',
    reach: 'code',
    upstream: {
      valkey: ['7.2.10', '8.0.4', '8.1.3'],
      redis: ['6.2.19', '7.2.10', '7.4.5', '8.0.3'],
      redict: ['7.3.5'],
    },
    debian: [...['valkey 8.1.1 3', 'redis 8.0.2 2'], ...['redis 7.0.15 1~deb12u5', 'redis 6.0.16 1+deb11u7']],
  },
  {
    id: 'CVE-2025-48367',
    known: '2025-07',
    what: 'faults of the network keep clients out, without a login',
    reach: 'crash',
    upstream: {
      valkey: ['7.2.10', '8.0.4', '8.1.3'],
      redis: ['6.2.19', '7.2.10', '7.4.5', '8.0.3'],
      redict: ['7.3.5'],
    },
    debian: [...['valkey 8.1.1 3', 'redis 8.0.2 2'], ...['redis 7.0.15 1~deb12u5', 'redis 6.0.16 1+deb11u7']],
  },
  {
    id: 'CVE-2025-21605',
    known: '2025-04',
    what: 'replies that are never read fill the memory, without a login',
    reach: 'crash',
    upstream: {
      valkey: ['7.2.9', '8.0.3', '8.1.1'],
      redis: ['6.2.18', '7.2.8', '7.4.3'],
      redict: ['7.3.5'],
    },
    debian: ['redis 7.0.15 1~deb12u4', 'redis 6.0.16 1+deb11u6'],
  },
  {
    id: 'CVE-2024-46981',
    known: '2025-01',
    what: 'a Lua script runs code in the engine',
    reach: 'code',
    upstream: { valkey: ['7.2.8', '8.0.2'], redis: ['6.2.17', '7.2.7', '7.4.2'], redict: ['7.3.2'] },
    debian: ['redis 7.0.15 1~deb12u3', 'redis 6.0.16 1+deb11u5'],
  },
  {
    id: 'CVE-2024-51741',
    known: '2025-01',
    what: 'a malformed selector of a user ends the engine',
    reach: 'crash',
    upstream: { valkey: ['7.2.8', '8.0.2'], redis: ['7.2.7', '7.4.2'], redict: ['7.3.2'] },
    since: { redis: '7.0.0' },
    debian: ['redis 7.0.15 1~deb12u3'],
  },
  {
    id: 'CVE-2024-31449',
    known: '2024-10',
    what: 'a Lua script writes beyond the stack',
    reach: 'code',
    upstream: { valkey: ['7.2.7', '8.0.1'], redis: ['6.2.16', '7.2.6', '7.4.1'] },
    debian: ['redis 7.0.15 1~deb12u2'],
  },
  {
    id: 'CVE-2024-31228',
    known: '2024-10',
    what: 'a long pattern ends the engine (with CVE-2024-31227)',
    reach: 'crash',
    upstream: { valkey: ['7.2.7', '8.0.1'], redis: ['6.2.16', '7.2.6', '7.4.1'], redict: ['7.3.1'] },
    debian: ['redis 7.0.15 1~deb12u2', 'redis 6.0.16 1+deb11u4'],
  },
]

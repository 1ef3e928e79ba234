import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codeOf } from './tools/read-imports.ts'
import { proseOfCode, proseOfPage } from './tools/read-prose.ts'

const root = import.meta.dirname
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const all = globSync(['packages/*/src/**/*.ts', '{demo,bench,e2e,proof}/**/*.ts'], { cwd: root }).toSorted()
const product = all.filter((file) => !file.endsWith('.test.ts'))

/** What is said to people. */
const said = 'message|why|\\w*Why|whyHeld|waitingFor|waiting_for|reason|\\w+_reason|trouble|obstacle'
const lookedInto = new RegExp(
  [
    `\\b(${said})\\??\\.(startsWith|endsWith|includes|indexOf|match|search)\\(`,
    `\\.(test|exec)\\((\\w+\\??\\.)*(${said})\\)`,
  ].join('|'),
)
/** Words of others, which have no codes. */
const ofOthers: Readonly<Record<string, string>> = {
  'packages/server/src/reconcile/carry-over/carry-settings.ts':
    'an engine may quote a secret in what it refuses',
  'packages/proxy/src/forwarding/deliver-replies.ts': 'replies of engines',
  'packages/server/src/store/open-embedded.ts': 'SQLite',
  'packages/server/src/http/create-http.ts': 'the JSON of the runtime',
  'packages/server/src/reconcile/steps/carry-out-cluster.ts': 'an error reply of an engine',
  'packages/server/src/reconcile/look/ask-as-client.ts': 'an error reply of an engine',
}

test('no decision hangs on the text of a message: it has a code beside it', () => {
  const among = product.filter((file) => !(file in ofOthers))
  expect(among.filter((file) => lookedInto.test(codeOf(read(file))))).toEqual([])
})

test('nothing is compared with a sentence', () => {
  const sentence =
    /\.(startsWith|endsWith|includes)\('[^'\n]*[a-z] [a-z][^'\n]*'\)|[!=]== '([\w,]+ ){3,}[^'\n]*'/
  expect(product.filter((file) => !(file in ofOthers) && sentence.test(read(file)))).toEqual([])
})

test('where nothing is in the way, the answer to "why not" is undefined, and nothing else', () => {
  const asks =
    /function (?:why|obstacle|lackOf|fault|refusal|missing)\w*\((?:[^()]|\([^()]*\))*\): ((?:[^{\n]|\{ )+)\{\n/g
  const answers = product.flatMap((file) =>
    [...codeOf(read(file)).matchAll(asks)].map(([, type = '']) => ({ file, type })),
  )
  expect(answers.length).toBeGreaterThan(20)
  expect(answers.filter(({ type }) => /\bnull\b|''/.test(type))).toEqual([])
})

describe('a process is an "it" with a name', () => {
  const code = globSync(['*.ts', '{packages,ledger,proof,e2e,bench,demo,tools}/**/*.{ts,mjs}'], { cwd: root })
  const pages = globSync(['*.md', '{docs,bench}/**/*.md'], { cwd: root })
  const isOurs = (file: string) => !file.includes('node_modules') && file !== 'sentences.test.ts'

  test('comments, messages, test names and pages have "who" only for people', () => {
    const found = [...code, ...pages].filter(isOurs).flatMap((file) => {
      const prose = file.endsWith('.md') ? proseOfPage(read(file)) : proseOfCode(read(file))
      return prose.filter(namesAnybody).map((text) => `${file}: ${text}`)
    })
    expect(found).toEqual([])
  })

  test('this is seen across the lines of a comment and of a page', () => {
    const comments = proseOfCode(
      "// the shard\n// who serves\n/** `nobody`\n * dies, whoever */ f('whom', 'by a b')",
    )
    expect(comments).toEqual(['the shard who serves', '… dies, whoever', 'by a b'])
    expect(comments.map(namesAnybody)).toEqual([true, true, false])
    expect(proseOfPage('The client\nwho asks.\n\nThe user\nwho `nobody`.').map(namesAnybody)).toEqual([
      true,
      false,
    ])
    expect(namesAnybody('Asked by a user. The shard who answers')).toBe(true)
  })
})

/** Those who may be called "who". A caller is a signed-in user. */
const people = 'users?|person|people|operators?|admins?|attackers?|callers?'
const ofPeople = new RegExp(`\\b(${people})\\b[^.:;]{0,60}?\\bwho\\b`, 'gi')
/** An account or a package in a test. */
const names = /(\buser |AUTH |Maintainer: |username: '|redis-of-)nobody\b/g

function namesAnybody(text: string): boolean {
  return /\b(who|whom|whoever|nobody|everybody|anybody)\b/i.test(
    text.replaceAll(ofPeople, '').replaceAll(names, ''),
  )
}

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeOf } from './tools/read-imports.ts'

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
  'packages/server/src/store/open-store.ts': 'SQLite',
  'packages/server/src/http/create-http.ts': 'the JSON of the runtime',
  'packages/server/src/reconcile/steps/carry-out-cluster.ts': 'an error reply of an engine',
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

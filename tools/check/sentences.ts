import { codeOf } from './read-imports.ts'
import { proseOfCode, proseOfPage } from './read-prose.ts'
import { mustSee, rule } from './rule.ts'
import { everything, find, read } from './tree.ts'

const inUse = [
  ...find('{packages/*,ledger}/src/**/*.{ts,tsx}'),
  ...find('{demo,bench,e2e,proof}/**/*.ts'),
].filter((file) => !file.endsWith('.test.ts'))
const pages = find('*.md', '{docs,bench,changes}/**/*.md')

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
  'packages/server/src/reconcile/carry-over/refusal-of.ts': 'an engine may quote a secret in what it refuses',
  'packages/proxy/src/forwarding/deliver-replies.ts': 'replies of engines',
  'packages/server/src/store/open-embedded.ts': 'SQLite',
  'packages/server/src/http/create-http.ts': 'the JSON of the runtime',
  'packages/server/src/reconcile/steps/carry-out-cluster.ts': 'an error reply of an engine',
  'packages/server/src/reconcile/look/ask-as-client.ts': 'an error reply of an engine',
}

/** What a test looks for: the literal after a matcher, or in a field that has words for people. */
const sought =
  /(?:\b(?:toContain|toMatch|toThrow|toBe|stringContaining|stringMatching|getByText)\(\s*(?:new RegExp\(\s*)?|\b(?:error|stderr|stdout|hasText|\w*(?:message|why|reason)): )(['"`/])((?:(?!\1)[^\\\n]|\\.){30,})\1/g

/** Thirty characters of words. A command of ours is none: it is a promise. */
function isSentence(text: string): boolean {
  const words = text.replaceAll(/fairlead( [a-z-]+)+/g, '').match(/[a-z]+(?:[,:;']* [a-z]+){2,}/gi) ?? []
  return words.some((run) => run.length >= 30)
}

/** What sentences are for, and how they name things. */
export const sentences = [
  // invariant: No decision reads the text of a message.
  rule('no decision hangs on the text of a message: it has a code beside it', () =>
    inUse.filter((file) => !(file in ofOthers) && lookedInto.test(codeOf(read(file)))),
  ),

  rule('nothing is compared with a sentence', () => {
    const sentence =
      /\.(startsWith|endsWith|includes)\('[^'\n]*[a-z] [a-z][^'\n]*'\)|[!=]== '([\w,]+ ){3,}[^'\n]*'/
    return inUse.filter((file) => !(file in ofOthers) && sentence.test(read(file)))
  }),

  rule('an end-to-end test asserts no sentence: that is asserted where it is written', () =>
    find('e2e/**/*.test.ts').flatMap((file) =>
      [...read(file).matchAll(sought)]
        .filter(([, , text = '']) => isSentence(text))
        .map(([, , text]) => `${file}: ${text}`),
    ),
  ),

  rule('where nothing is in the way, the answer to "why not" is undefined, and nothing else', () => {
    const asks =
      /function (?:why|obstacle|lackOf|fault|refusal|missing)\w*\((?:[^()]|\([^()]*\))*\): ((?:[^{\n]|\{ )+)\{\n/g
    const answers = inUse.flatMap((file) =>
      [...codeOf(read(file)).matchAll(asks)].map(([, type = '']) => ({ file, type })),
    )
    mustSee(answers.length, 21)
    return answers.filter(({ type }) => /\bnull\b|''/.test(type)).map(({ file, type }) => `${file}: ${type}`)
  }),

  rule('comments, messages, test names and pages have "who" only for people', () =>
    [...everything.filter((file) => file !== 'tools/check/sentences.ts'), ...pages].flatMap((file) => {
      const prose = file.endsWith('.md') ? proseOfPage(read(file)) : proseOfCode(read(file))
      return prose.filter(namesAnybody).map((text) => `${file}: ${text}`)
    }),
  ),

  rule('"who" is seen across the lines of a comment and of a page', () => {
    const code = "// the shard\n// who serves\n/** `nobody`\n * dies, whoever */ f('whom', 'by a b')"
    const page = 'The client\nwho asks.\n\nThe user\nwho `nobody`.'
    const seen = [...proseOfCode(code), ...proseOfPage(page)].filter(namesAnybody)
    const should = ['the shard who serves', '… dies, whoever', 'The client who asks.']
    return should.join() === seen.join() ? [] : [`seen: ${seen.join(' | ')}`]
  }),
]

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

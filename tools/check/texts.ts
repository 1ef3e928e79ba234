import { rule } from './rule.ts'
import { find, read } from './tree.ts'

const texts = find('**/*', '.ci/*', '.npmrc', '.node-version', '.gitignore').filter((file) =>
  /(\.(m?[jt]s|json|md|sh|yml|yaml|toml|sql)|\.ci\/\w+|(^|\/)\.[\w-]+)$/.test(file),
)
const hosts = [
  'registry',
  'npmjs',
  'yarnpkg',
  'npmmirror',
  'artifactory',
  'nexus',
  'mirror',
  'debian',
  'ubuntu',
]

/** What no text of the repository names. */
export const everyText = [
  rule('no text names package hosts: where packages come from is the business of the machine', () => {
    const host = new RegExp(`//[^/\\s'"\`]*(${hosts.join('|')})`, 'i')
    const isLocked = (file: string) =>
      file.endsWith('package-lock.json') && read(file).includes('"resolved": "http')
    return texts.filter((file) => host.test(read(file)) || isLocked(file))
  }),

  rule('no text names paths of the machine it was written on', () => {
    const path = new RegExp(`(?<![\\w.*}])/(${['work', 'root', 'home', 'Users', 'tmp'].join('|')})/[\\w.]`)
    return texts.filter((file) => path.test(read(file)))
  }),
]

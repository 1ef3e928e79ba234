/**
 * `npm run pack-client [folder]`: makes fairlead-client-<version>.tgz, a package of the command line that
 * needs nothing but Node: no registry, no compiler, no engine. The folder is .fairlead unless one is named.
 * Prints the path of the package.
 */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { licencesOf } from './licences-of.ts'

const cli = join(import.meta.dirname, '..')
const root = join(cli, '../..')
const target = resolve(process.argv[2] ?? join(root, '.fairlead'))
/** CommonJS libraries load modules of Node. */
const withRequire =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

mkdirSync(target, { recursive: true })
const made = mkdtempSync(join(target, 'client-'))
try {
  const { metafile } = await build({
    entryPoints: [join(cli, 'src/client.ts')],
    outdir: join(made, 'dist'),
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minify: true,
    conditions: ['@fairlead/source'],
    banner: { js: withRequire },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  writeFileSync(join(made, 'LICENSES-OF-LIBRARIES'), licencesOf(root, Object.keys(metafile.inputs)))
  mkdirSync(join(made, 'man'))
  copyFileSync(join(cli, 'man/fairlead.1'), join(made, 'man/fairlead.1'))
  copyFileSync(join(root, 'LICENSE'), join(made, 'LICENSE'))
  copyFileSync(join(root, 'docs/operate/client-alone.md'), join(made, 'README.md'))
  await packYaml()
  writeFileSync(join(made, 'package.json'), describePackage())
  const name = pack()
  renameSync(join(made, name), join(target, name))
  process.stdout.write(`${join(target, name)}\n`)
} finally {
  rmSync(made, { recursive: true, force: true })
}

/**
 * The command line loads it by its name when it prints YAML (to-yaml.ts), so it is a package within this one.
 */
async function packYaml(): Promise<void> {
  const from = join(root, 'node_modules/yaml')
  const to = join(made, 'node_modules/yaml')
  await build({
    entryPoints: [join(from, 'dist/index.js')],
    outfile: join(to, 'index.cjs'),
    ...({ bundle: true, minify: true, platform: 'node', format: 'cjs', target: 'node24' } as const),
  })
  const { name, version, license } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  writeFileSync(join(to, 'package.json'), JSON.stringify({ name, version, license, main: 'index.cjs' }))
  copyFileSync(join(from, 'LICENSE'), join(to, 'LICENSE'))
}

function describePackage(): string {
  const { version, license, engines, dependencies } = JSON.parse(
    readFileSync(join(cli, 'package.json'), 'utf8'),
  )
  const about = {
    name: 'fairlead-client',
    description: 'The command line of Fairlead, for machines that Fairlead does not run on.',
    version,
    license,
    engines,
    type: 'module',
    dependencies: { yaml: dependencies.yaml },
    bundleDependencies: ['yaml'],
    bin: { fairlead: './dist/client.js' },
    // A list: npm leaves a single name alone, and installs no page.
    man: ['./man/fairlead.1'],
  }
  return `${JSON.stringify(about, null, 2)}\n`
}

/** The name of the file that npm has made. */
function pack(): string {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const said = execFileSync('npm', ['pack', '--json'], { cwd: made, encoding: 'utf8', stdio: [...stdio] })
  const [packed] = JSON.parse(said) as readonly { readonly filename: string }[]
  if (packed === undefined) throw new Error('npm pack has made nothing')
  return packed.filename
}

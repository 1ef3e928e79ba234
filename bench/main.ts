/** `npm run bench -- [NAME] [options]` runs one of these benchmarks; without a name, the handover. */
const benches: Readonly<Record<string, string>> = {
  handover: './handover/main.ts',
  'login-timing': './login-timing/main.ts',
  upgrade: './upgrade/main.ts',
  endpoint: './endpoint/main.ts',
  scale: './scale/main.ts',
  compare: './compare/main.ts',
}

const [word = ''] = process.argv.slice(2)
const name = word === '' || word.startsWith('-') ? 'handover' : word
const file = Object.hasOwn(benches, name) ? benches[name] : undefined
if (file === undefined) {
  process.stderr.write(`bench: there is no ${name}; there are ${Object.keys(benches).join(', ')}\n`)
  process.exitCode = 2
} else {
  if (name === word) process.argv.splice(2, 1) // the rest is the benchmark's own
  await import(file)
}

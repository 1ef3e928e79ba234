/** Options whose values may be secret, because others may keep the output. */
const telling = /^--(set|module)(=|$)/
const ofDryRun: readonly string[] = ['--dry-run', '--exit-code']

/** The command, to be pasted after a dry run, that starts the plan. `argv` is that of the process. */
export function startCommand(
  {
    command = 'databases upgrade',
    names,
  }: { readonly command?: string | undefined; readonly names: readonly string[] },
  argv: readonly string[],
): string {
  const words = argv.slice(2)
  if (command !== 'databases upgrade' || words.some((word) => telling.test(word)))
    return `fairlead ${command} ${names.join(' ')}, with the same options but for --dry-run`
  return ['fairlead', ...words.filter((word) => !ofDryRun.includes(word))].map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Contents of a wall. All paths are absolute, and the same inside and outside. */
export interface Inside {
  readonly home: string
  /** An empty folder of the home on which the new root is built; outside it stays empty. */
  readonly root: string
  /** Working folder; read-only except for `writable`. */
  readonly folder: { readonly path: string }
  /** Folders: parts of `folder`, or all of it. */
  readonly writable: readonly string[]
  /** Other readable files, such as modules. */
  readonly files: readonly string[]
  readonly program: string
  /** User of the program; null: the user that starts it, in a user namespace. */
  readonly uid: number | null
  /** True if it may listen at ports below 1024, its only right of root. Only with `uid`. */
  readonly lowPorts?: boolean
}

const SYSTEM_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** Files that the C library reads. */
const SYSTEM_FILES = ['ld.so.cache', 'localtime', 'hosts', 'host.conf', 'resolv.conf', 'nsswitch.conf']
/** Folders next to a build's `bin`, with what its programs load. */
const BESIDE_BIN = ['lib', 'lib64', 'exe', 'lua', 'libexec']
const KERNEL = ['/sys/kernel/mm/transparent_hugepage', '/sys/devices/system']
const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom']
/** An engine that runs as root raises its limit of open files itself; other users may not. */
const OPEN_FILES = 65_536

/** A path that is visible inside. */
interface Shown {
  readonly path: string
  readonly options: string
}

/** Returns the arguments of unshare(1) before the program, which keeps its pid. */
export function wallArguments(inside: Inside): readonly string[] {
  const spaces = inside.uid === null ? ['--user', '--map-root-user'] : []
  return [...spaces, '--mount', '--', '/bin/sh', '-c', wallScript(inside), 'wall']
}

/** Script for sh(1), whose arguments are the program and its arguments. */
export function wallScript(inside: Inside): string {
  const { home, root, folder, uid, lowPorts = false } = inside
  const { folders, links } = systemFolders()
  const shown = [...folders.map(readable), ...whatIsShown(inside)]
  const isCovered = shown.some(({ path }) => path !== home && isWithin(home, path))
  const [own = [], others = []] = [true, false].map((is) =>
    shown.filter(({ path }) => isWithin(path, home) === is),
  )
  const at = (path: string) => quote(`${root}${path}`)
  return [
    'set -e',
    'umask 022',
    ...(uid === null
      ? ['echo 0 2>/dev/null >/proc/sys/user/max_user_namespaces || :']
      : [
          `[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge ${OPEN_FILES} ] || ulimit -n ${OPEN_FILES} 2>/dev/null || :`,
        ]),
    `mount -n -t tmpfs -o size=16m,mode=755,nosuid,nodev fairlead ${quote(root)}`,
    `mkdir -p ${['/old', '/etc', '/tmp'].map(at).join(' ')}`,
    `chmod 1777 ${at('/tmp')}`,
    ...(links.length === 0 ? [] : [`cp -P ${links.join(' ')} ${quote(root)}`]),
    `cp -L ${SYSTEM_FILES.map((name) => `/etc/${name}`).join(' ')} ${at('/etc')} 2>/dev/null || :`,
    ...show(others, root),
    // If a visible folder contains the home, the home is hidden again.
    ...(isCovered ? [`mount -n -t tmpfs -o size=1m,mode=755,nosuid,nodev fairlead ${at(home)}`] : []),
    ...show(own, root),
    `pivot_root ${quote(root)} ${at('/old')}`,
    `cd ${quote(folder.path)}`,
    'umount -n -l /old',
    'umask 077',
    'unset PWD OLDPWD',
    `exec setpriv ${giveUp(uid, lowPorts)} -- "$@"`,
  ].join('\n')
}

/** A program is root in its user namespace, and would regain its capabilities with each program it starts. */
function giveUp(uid: number | null, lowPorts: boolean): string {
  if (uid === null)
    return '--no-new-privs --bounding-set=-all --inh-caps=-all --securebits=+noroot,+noroot_locked'
  const rights = lowPorts ? '-all,+net_bind_service' : '-all'
  const user = `--reuid=${uid} --regid=${uid} --clear-groups`
  return `${user} --no-new-privs --bounding-set=${rights} --inh-caps=${rights} --ambient-caps=${rights}`
}

/** Makes all mount points in one call, and mounts in another, because each call takes some ms. */
function show(shown: readonly Shown[], root: string): readonly string[] {
  const [folders = [], files = []] = [true, false].map((is) =>
    shown.filter(({ path }) => isFolder(path) === is),
  )
  const places = new Set([...folders.map(({ path }) => path), ...files.map(({ path }) => dirname(path))])
  const lines = shown.map(
    ({ path, options }) => `${field(path)} ${field(`${root}${path}`)} none ${options} 0 0`,
  )
  return [
    `mkdir -p ${[...places].map((path) => quote(`${root}${path}`)).join(' ')}`,
    ...files.map(({ path }) => `: >${quote(`${root}${path}`)}`),
    `printf '%s\\n' ${lines.map(quote).join(' ')} >${quote(`${root}/etc/fstab`)}`,
    `mount -n -a -T ${quote(`${root}/etc/fstab`)}`,
  ]
}

function whatIsShown(inside: Inside): readonly Shown[] {
  const { folder, files, writable } = inside
  const kernel = KERNEL.filter((path) => existsSync(path))
  return [
    ...kernel.map((path) => ({ path, options: 'bind,ro,nosuid,nodev,noexec' })),
    ...DEVICES.map((path) => ({ path, options: 'bind' })),
    { path: '/proc', options: 'rbind' },
    ...[...programPaths(inside), ...files].map(readable),
    { path: folder.path, options: 'bind,ro,nosuid,nodev,noexec' },
    ...writable.map((path) => ({ path, options: 'bind,nosuid,nodev,noexec' })),
  ]
}

function readable(path: string): Shown {
  return { path, options: 'bind,ro,nosuid,nodev' }
}

function systemFolders(): { readonly folders: readonly string[]; readonly links: readonly string[] } {
  const there = SYSTEM_FOLDERS.filter((path) => existsSync(path))
  const links = there.filter((path) => lstatSync(path).isSymbolicLink())
  return { folders: ['/usr', ...there.filter((path) => !links.includes(path))], links }
}

/** Returns what a program needs besides the system: its folder `bin` with its neighbours, or only itself. */
function programPaths({ program, home }: Inside): readonly string[] {
  const files = [program, realpathSync(program)].filter(
    (path) => !['/usr', ...SYSTEM_FOLDERS].some((each) => isWithin(path, each)),
  )
  const paths = files.flatMap((path) => {
    const bin = dirname(path)
    if (basename(bin) !== 'bin' || isWithin(home, bin)) return [path]
    const beside = BESIDE_BIN.map((name) => join(dirname(bin), name))
    return [bin, ...beside.filter((each) => isFolder(each) && !isWithin(home, each))]
  })
  return [...new Set(paths)]
}

/** True for a build made by `engines fetch`, which has all that it loads. */
export function isWholeBuild(program: string): boolean {
  const build = dirname(dirname(realpathSync(program)))
  return isFolder(join(build, 'exe')) && isFolder(join(build, 'lib'))
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Encodes a field for fstab(5). */
function field(text: string): string {
  return text.replaceAll(/[\\\s]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
}

/** Bytes that `faultOfSharedObject` needs from a file's beginning, including program headers. */
export const HEADER_BYTES = 4_096

/** Map from Node's name of the architecture to its ELF machine. */
const machines: Readonly<Record<string, { readonly code: number; readonly name: string }>> = {
  x64: { code: 62, name: 'x86_64' },
  arm64: { code: 183, name: 'aarch64' },
}
/** Functions that engines call when they load a module. Valkey knows both. */
export const entryPoints = ['RedisModule_OnLoad', 'ValkeyModule_OnLoad'] as const

const SHARED_OBJECT = 3
const INTERPRETER = 3

/**
 * Returns why engines on this architecture (`x64`, `arm64`) cannot load a file, from its first bytes; or
 * undefined. Expects 64-bit little-endian ELF, the only format of these architectures on Linux.
 */
export function faultOfSharedObject(header: Uint8Array, architecture: string): string | undefined {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength)
  if (header.byteLength < 64 || view.getUint32(0) !== 0x7f_45_4c_46)
    return 'is no shared object (ELF); take the .so as the linker made it'
  if (header[4] !== 2 || header[5] !== 1) return 'is not made for 64 bits with the least byte first'
  const machine = view.getUint16(18, true)
  const wanted = machines[architecture]
  if (machine !== wanted?.code)
    return `is made for ${nameOf(machine)}, and the nodes are ${wanted?.name ?? architecture}; build it there`
  if (view.getUint16(16, true) !== SHARED_OBJECT || hasInterpreter(view))
    return 'is a program or an object file, not a shared object; link it with -shared'
  return undefined
}

/** True if `name` in a module.json means this architecture. */
export function isNameOf(architecture: string, name: string): boolean {
  return names[name.toLowerCase()] === architecture
}

const names: Readonly<Record<string, string>> = {
  x86_64: 'x64',
  amd64: 'x64',
  x64: 'x64',
  aarch64: 'arm64',
  arm64: 'arm64',
  arm64v8: 'arm64',
}

function nameOf(machine: number): string {
  const known = Object.values(machines).find(({ code }) => code === machine)
  return known?.name ?? `another machine (ELF ${machine})`
}

/** Programs name the loader that starts them; shared objects do not. */
function hasInterpreter(view: DataView): boolean {
  const [offset, size, count] = [
    view.getBigUint64(32, true),
    view.getUint16(54, true),
    view.getUint16(56, true),
  ]
  for (let n = 0; n < count; n += 1) {
    const at = Number(offset) + n * size
    if (at + 4 > view.byteLength) return false
    if (view.getUint32(at, true) === INTERPRETER) return true
  }
  return false
}

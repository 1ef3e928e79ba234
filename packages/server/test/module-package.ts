import { type AsyncZippable, zipSync } from 'fflate'

/** The checked parts of a linker's output: the header of a shared object, and its entry point's name. */
export function sharedObject({
  machine = process.arch === 'arm64' ? 183 : 62,
  type = 3,
  bits = 2,
  interpreter = false,
  text = 'RedisModule_OnLoad',
} = {}): Buffer {
  const bytes = Buffer.alloc(256)
  bytes.set([0x7f, 0x45, 0x4c, 0x46, bits, 1, 1], 0)
  bytes.writeUInt16LE(type, 16)
  bytes.writeUInt16LE(machine, 18)
  bytes.writeBigUInt64LE(64n, 32)
  bytes.writeUInt16LE(56, 54)
  bytes.writeUInt16LE(1, 56)
  bytes.writeUInt32LE(interpreter ? 3 : 1, 64)
  return Buffer.concat([bytes, Buffer.from(`\0${text}\0`)])
}

export const manifest = {
  module_name: 'tally',
  semantic_version: '1.2.0',
  capabilities: ['types', 'persistence_rdb'],
  module_file: 'tally.so',
}

/** A package as the usual packer makes it; `files` are added, or replace files of the same name. */
export function zipOf(files: AsyncZippable = {}, json: object = {}): Buffer {
  return Buffer.from(
    zipSync({
      'module.json': Buffer.from(JSON.stringify({ ...manifest, ...json })),
      'tally.so': sharedObject(),
      ...files,
    } as Parameters<typeof zipSync>[0]),
  )
}

/** A zip of these files only. */
export function bareZip(files: Readonly<Record<string, Buffer>>): Buffer {
  return Buffer.from(zipSync(files))
}

/** The same with a false field in the entry's record of the central directory; `at` is its offset. */
export function lyingZip(name: string, at: number, value: number, bytes: 2 | 4 = 4): Buffer {
  const zip = zipOf()
  const record = zip.lastIndexOf(name) - 46
  if (zip.readUInt32LE(record) !== 0x02_01_4b_50) throw new Error('the record was not found')
  if (bytes === 2) zip.writeUInt16LE(value, record + at)
  else zip.writeUInt32LE(value, record + at)
  return zip
}

import { Type } from 'typebox'

const TextOrNull = Type.Union([Type.String(), Type.Null()])

/** Stored form of a module's module.json, in our words. */
export const StoredManifest = Type.Object({
  name: Type.String(),
  displayName: Type.String(),
  semanticVersion: Type.String(),
  version: Type.Integer(),
  capabilities: Type.Array(Type.String()),
  capabilityName: Type.String(),
  minEngineVersion: TextOrNull,
  compatibleEngineVersion: TextOrNull,
  minEnginePackVersion: TextOrNull,
  commandLineArgs: Type.String(),
  configCommand: Type.String(),
  commands: Type.Array(
    Type.Object({
      name: Type.String(),
      arity: Type.Integer(),
      firstKey: Type.Integer(),
      lastKey: Type.Integer(),
      step: Type.Integer(),
      flags: Type.Array(Type.String()),
    }),
  ),
  selfTest: Type.Array(
    Type.Object({ command: Type.Array(Type.String()), reply: Type.Optional(Type.Unknown()) }),
  ),
  moduleFile: Type.String(),
  author: Type.String(),
  email: Type.String(),
  description: Type.String(),
  homepage: Type.String(),
  license: Type.String(),
  featureSets: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
  bigstoreVersion2: Type.Boolean(),
})
